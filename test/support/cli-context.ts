import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import type { CliContext, LocalModels } from '../../sidecar/cli/context.js';
import { runCli } from '../../sidecar/cli/program.js';
import type { Clock } from '../../sidecar/shared/clock.js';
import { createTestClock } from './purge-harness.js';

export interface FakeContextOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Whether standard input and standard error are a terminal. */
  readonly isTerminal?: boolean;
  readonly clock?: Clock;
  /** The schema service in memory; by default, opening one fails. */
  readonly models?: () => Promise<LocalModels>;
}

/**
 * The environment of a command, without a process: output is recorded, and Ctrl+C is a method call.
 */
export class FakeContext implements CliContext {
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: PassThrough & { isTTY?: boolean } = new PassThrough();
  readonly stdout: Writable;
  readonly stderr: Writable & { isTTY?: boolean };
  readonly clock: Clock;
  /** The text written to standard output, and to standard error. */
  out = '';
  err = '';
  /** The exit codes of immediate exits. */
  readonly left: number[] = [];
  readonly #handlers = new Set<() => void>();
  readonly #models: FakeContextOptions['models'];

  constructor({ env = {}, isTerminal = false, clock = createTestClock(), models }: FakeContextOptions = {}) {
    this.#models = models;
    this.env = env;
    this.clock = clock;
    this.stdout = sink((text) => (this.out += text));
    this.stderr = sink((text) => {
      this.err += text;
      this.onQuestion?.(text);
    });
    this.stdin.isTTY = isTerminal;
    this.stderr.isTTY = isTerminal;
  }

  /** Called with everything written to standard error. */
  onQuestion: ((text: string) => void) | undefined;

  /** The number of registered Ctrl+C handlers. */
  get listening(): number {
    return this.#handlers.size;
  }

  onInterrupt(handler: () => void): () => void {
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }

  /** Simulates Ctrl+C. */
  interrupt(): void {
    for (const handler of this.#handlers) handler();
  }

  exit(exitCode: number): void {
    this.left.push(exitCode);
  }

  async openModels(): Promise<LocalModels> {
    return this.#models?.() ?? assert.fail('No schema service is needed.');
  }

  async serve(): Promise<void> {
    assert.fail('No gateway is to be served.');
  }

  /**
   * Runs a command.
   * @returns the exit code of the process
   */
  async run(...words: readonly string[]): Promise<number | undefined> {
    return runCli(words, '0.0.0', this);
  }
}

function sink(take: (text: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk.toString());
      done();
    },
  });
}

/** A request as a gateway receives it. */
export interface AskedGateway {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
  readonly redirect: RequestInit['redirect'];
  readonly signal: AbortSignal;
}

/** A gateway that is a function; every request is recorded. Its URL is {@link GATEWAY}. */
export function fakeGateway(
  t: TestContext,
  answer: (request: AskedGateway, nth: number) => Response | Promise<Response>,
): readonly AskedGateway[] {
  const asked: AskedGateway[] = [];
  t.mock.method(globalThis, 'fetch', async (sent: Request) => {
    const { url, method, headers, redirect, signal } = sent;
    assert.ok(url.startsWith(GATEWAY), url);
    const target = url.slice(GATEWAY.length);
    const request: AskedGateway = { method, target, headers, redirect, signal, body: await sent.text() };
    asked.push(request);
    return answer(request, asked.length);
  });
  return asked;
}

export const GATEWAY = 'http://gateway.test/base';

export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), { status, headers });
}
