/**
 * Prints what CHANGELOG.md says about a version, for its release: node scripts/release-notes.js 1.2.0
 * Refuses any version but that of package.json, and one that CHANGELOG.md does not mention. `Unreleased` shows what comes next.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const read = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8');

const [wanted = ''] = process.argv.slice(2);
const version = wanted.replace(/^v/, '');
const { version: own } = /** @type {{ version: string }} */ (JSON.parse(read('package.json')));
if (version !== 'Unreleased' && version !== own) fail(`package.json has version ${own}, not ${version}.`);

const sections = read('CHANGELOG.md').split(/^## /m).slice(1);
const section = sections.find((text) => text.startsWith(`[${version}]`));
const notes = section?.slice(section.indexOf('\n')).trim() ?? '';
if (notes === '') fail(`CHANGELOG.md says nothing about ${version}.`);
console.log(notes);

/** @param {string} why @returns {never} */
function fail(why) {
  console.error(`No release: ${why}`);
  process.exit(1);
}
