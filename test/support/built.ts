import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './project.js';

/** For the environment of child processes: the place where Node stores compiled modules. */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  process.env['NODE_COMPILE_CACHE'] === undefined
    ? {}
    : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

let built: Promise<void> | undefined;

/** Brings dist/ up to date, once for each test file; `npm test` does so before the first file. */
export async function ensureBuilt(): Promise<void> {
  if (process.env['TEST_IS_BUILT'] === 'yes') return;
  built ??= run(process.execPath, [join(ROOT, 'scripts/build.js')], ROOT);
  await built;
}

/**
 * Runs a program to its end.
 * @throws if it fails
 */
export async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}: ${stderr}`);
}
