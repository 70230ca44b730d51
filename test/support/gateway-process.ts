import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { stopLater } from './gateway-harness.js';
import { COMPILE_CACHE, ensureBuilt } from './built.js';
import { Waiting } from './waiting.js';
import { ROOT } from './project.js';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A gateway as a child process, as users start it. */
export class GatewayProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Waiting();
  readonly ended: Promise<ProcessEnd>;
  stdout = '';
  stderr = '';

  /**
   * Starts `dist/sidecar/main.js` below `root`. Its environment has only `env`, what Node needs,
   * and a database in memory.
   */
  static async start(env: Readonly<Record<string, string>>, root?: string): Promise<GatewayProcess> {
    if (root === undefined) await ensureBuilt();
    return new GatewayProcess(env, root ?? ROOT);
  }

  private constructor(env: Readonly<Record<string, string>>, root: string) {
    // Without source maps, which would take a tenth of the startup time.
    this.#child = spawn(process.execPath, ['dist/sidecar/main.js'], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...COMPILE_CACHE, DATABASE_PATH: ':memory:', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
      this.#waiting.notify();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      this.#waiting.notify();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
    stopLater(async () => {
      this.#child.kill('SIGKILL');
      await this.ended;
    });
  }

  get pid(): number {
    return this.#child.pid ?? assert.fail('the process did not start');
  }

  /**
   * Waits until the standard output matches.
   * @throws if the process ends before
   */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#waiting.until(() => {
      const found = pattern.exec(this.stdout);
      if (found !== null) return found;
      if (this.#child.exitCode === null && this.#child.signalCode === null) return undefined;
      throw new Error(`ended before ${String(pattern)}: ${this.stdout}${this.stderr}`);
    });
  }

  /** Returns the URL in the startup message. */
  async url(): Promise<string> {
    const [, url] = await this.until(/^NGSI-LD gateway on (http:\S+?):? /m);
    return url ?? '';
  }

  /**
   * Returns the peak memory of the process in bytes; undefined if the system does not report it.
   */
  peakMemoryBytes(): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    } catch {
      return undefined;
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
