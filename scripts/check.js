/** Checks types, rules and formatting, all at once; what each tool found is printed when it ends. */
import { execFile } from 'node:child_process';
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
  execFile(process.execPath, tool, { cwd: root, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    if (error === null) return;
    if (stdout === '' && stderr === '') console.error(error);
    process.exitCode = 1;
  });
}
