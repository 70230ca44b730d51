/** Checks types, rules and formatting, one tool after the other: tests run beside them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules');
const tools = [
  [join(bin, 'typescript', 'bin', 'tsc'), '--noEmit'],
  [join(bin, 'typescript', 'bin', 'tsc'), '--noEmit', '--project', 'console'],
  [join(bin, 'eslint', 'bin', 'eslint.js'), '.'],
  [join(bin, 'prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '.'],
];

for (const tool of tools) {
  const { status } = spawnSync(process.execPath, tool, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
