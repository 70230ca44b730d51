import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from '../../sidecar/cli/program.js';
import { openSchemasInMemory } from '../../sidecar/schemas/open-schemas.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import { COMPILE_CACHE, ensureBuilt } from './built.js';
import { sharedWorkers, stopLater } from './gateway-harness.js';
import { ROOT } from './project.js';
import { Waiting } from './waiting.js';

/**
 * Builds the program of the command line if needed.
 * @returns its path
 */
export async function ensureCliBuilt(): Promise<string> {
  await ensureBuilt();
  return join(ROOT, 'dist/cli.js');
}

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};

export interface CliEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line as a child process, through pipes. */
export class CliProcess {
  readonly #waiting = new Waiting();
  readonly ended: Promise<CliEnd>;
  readonly signal: (signal: NodeJS.Signals) => void;
  stdout = '';
  stderr = '';

  private constructor(
    command: readonly string[],
    { env = {}, input }: { env?: Readonly<Record<string, string>>; input?: string },
  ) {
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
      this.#waiting.notify();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
      this.#waiting.notify();
    });
    child.stdin.on('error', () => undefined);
    if (input === undefined) this.type = (text) => void child.stdin.write(text);
    else {
      child.stdin.end(input);
      this.type = () => undefined;
    }
    this.signal = (signal) => void child.kill(signal);
    this.ended = once(child, 'close').then(([code]) => {
      this.#waiting.notify();
      return { code: code as number | null, stdout: this.stdout, stderr: this.stderr };
    });
    stopLater(async () => {
      child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** Writes to the process's standard input. */
  readonly type: (text: string) => void;

  static async start(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    input = '',
  ): Promise<CliProcess> {
    return new CliProcess([process.execPath, await ensureCliBuilt(), ...args], { env, input });
  }

  /**
   * Starts the command line on a pseudo-terminal, by `script` of util-linux; all its output,
   * including standard error, is in `stdout`.
   */
  static async onTerminal(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<CliProcess> {
    const quoted = [process.execPath, await ensureCliBuilt(), ...args].map(
      (word) => `'${word.replaceAll("'", `'\\''`)}'`,
    );
    return new CliProcess(['script', '-qefc', quoted.join(' '), '/dev/null'], {
      env: { TERM: 'xterm', ...env },
    });
  }

  /** Waits until the output matches. */
  async until(pattern: RegExp): Promise<void> {
    await this.#waiting.until(() => (pattern.test(this.stdout + this.stderr) ? true : undefined));
  }
}

/**
 * Runs the command line to its end, in this process, because starting one takes longer than most
 * commands. Schema services that it opens share their workers with others, and have to be closed
 * when it ends.
 */
export async function cli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CliEnd> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  let left: number | undefined;
  let open = 0;
  const exitCode = await runCli(args, VERSION, {
    env: { PATH: process.env['PATH'], ...env },
    stdin: Readable.from([input]),
    stdout,
    stderr,
    clock: systemClock,
    onInterrupt: () => () => undefined,
    exit: (code) => (left ??= code),
    openModels: async () => {
      const models = await openSchemasInMemory(systemClock, sharedWorkers());
      open += 1;
      return {
        ...models,
        close: async () => {
          await models.close();
          open -= 1;
        },
      };
    },
    serve: async () => assert.fail('A gateway is to be served by a process of its own.'),
  });
  stdout.end();
  stderr.end();
  assert.equal(open, 0, 'A command leaves no schema service open, whose workers would keep the process.');
  const [out, complaints] = await written;
  return { code: left ?? exitCode ?? 0, stdout: out, stderr: complaints };
}

/** Parses an output with one JSON document per line. */
export function jsonLines(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}
