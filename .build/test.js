/** Runs all tests with node:test, TypeScript through tsx. Arguments narrow the run: npm test -- test/unit */
import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const targets = process.argv.length > 2 ? process.argv.slice(2) : ['test'];

/** @param {string} target @returns {Promise<string[]>} */
async function testFiles(target) {
  const path = join(root, target);
  if ((await stat(path)).isFile()) return [path];
  const names = await readdir(path, { recursive: true });
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => join(path, name));
}

const files = (await Promise.all(targets.map(testFiles))).flat().sort();
const child = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    '--import',
    'tsx',
    '--test',
    '--test-reporter=spec',
    '--test-timeout=120000',
    ...files,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, NODE_ENV: 'test' } },
);
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
