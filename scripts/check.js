/**
 * Checks types, lint rules and formatting, one tool after the other, because tests run at the same time. The types of the API's
 * client are generated first.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules');
const tools = [[join(bin, 'oxlint', 'bin', 'oxlint')], [join(bin, 'oxfmt', 'bin', 'oxfmt'), '--check', '.']];

/** The type checker is written in Go. Collecting its garbage takes a third of its time, and saves only a fifth of 3 GB. */
const env = { GOGC: 'off', GOMEMLIMIT: '4GiB', ...process.env };

if (!run('--import=tsx', join(root, 'test', 'support', 'client-types.ts'))) process.exit(1);
for (const tool of tools) if (!run(...tool)) process.exitCode = 1;

/** @param {readonly string[]} args @returns {boolean} whether it ended well */
function run(...args) {
  // The tools create so many short-lived objects that the default, 16 MiB, costs a sixth of their time.
  const all = ['--max-semi-space-size=128', ...args];
  return spawnSync(process.execPath, all, { cwd: root, stdio: 'inherit', env }).status === 0;
}
