import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ensureBuilt } from './built.js';
import { stopLater } from './gateway-harness.js';
import { ROOT } from './project.js';
import { Waiting } from './waiting.js';

/** The program of the command line, brought up to date. */
export async function ensureCliBuilt(): Promise<string> {
  await ensureBuilt();
  return join(ROOT, 'dist/cli.js');
}

export interface CliEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line as a process of its own, through pipes. */
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
      env: { PATH: process.env['PATH'], ...env },
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

  /** Writes to its standard input. */
  readonly type: (text: string) => void;

  static async start(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    input = '',
  ): Promise<CliProcess> {
    return new CliProcess([process.execPath, await ensureCliBuilt(), ...args], { env, input });
  }

  /** On a pseudo-terminal, by script of util-linux; what it writes, standard error included, is its `stdout`. */
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

  /** Waits until what it has written matches. */
  async until(pattern: RegExp): Promise<void> {
    await this.#waiting.until(() => (pattern.test(this.stdout + this.stderr) ? true : undefined));
  }
}

/** Runs the command line to its end. */
export async function cli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CliEnd> {
  return (await CliProcess.start(args, env, input)).ended;
}

/** The JSON documents of an output, one a line. */
export function jsonLines(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}
