import { pino } from 'pino';
import { loadConfig } from '../../sidecar/shared/config/load.js';
import {
  startEmbeddedBroker,
  type EmbeddedBroker,
  type EmbeddedBrokerOptions,
} from '../../sidecar/embedded-broker/index.js';
import { startGateway, type Gateway, type GatewayOptions } from '../../sidecar/gateway.js';
import { createWorkers, type Workers } from '../../sidecar/schemas/open-schemas.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import type { RunOptions } from '../../sidecar/shared/workers/tasks.js';
import type { Problem } from '../../sidecar/shared/problem.js';
import { shared } from './shared-by-files.js';
import { Waiting } from './waiting.js';

const closers: (() => Promise<unknown>)[] = [];

/** Closes every gateway and broker started so far, the latest first; for a file's `after` hook. */
export async function stopAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
  await workers.release();
}

/** Registers something else for `stopAll` to close. */
export function stopLater(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): unknown;
  /**
   * Returns the body of a problem+json answer.
   * @throws for any other answer
   */
  problem(): Problem;
}

export type SendOptions = Pick<RequestInit, 'headers' | 'body' | 'signal'>;

/** Sends a request as a well-behaved client does. */
export async function send(
  baseUrl: string,
  method: string,
  target: string,
  options: SendOptions = {},
): Promise<Answer> {
  const response = await fetch(`${baseUrl}${target}`, { ...options, method, redirect: 'manual' });
  const { status, headers } = response;
  const text = await response.text();
  const json = (): unknown => JSON.parse(text);
  const problem = () => {
    const mediaType = headers.get('content-type') ?? 'no content type';
    if (mediaType !== 'application/problem+json') throw new Error(`${status} ${mediaType}: ${text}`);
    return json() as Problem;
  };
  return { status, headers, text, json, problem };
}

/** Sends a JSON body, for example to one of NGSI-LD's create operations. */
export async function sendJson(
  baseUrl: string,
  method: string,
  target: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return send(baseUrl, method, target, {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** One line of the log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string };

/** The log of a gateway. */
export class Log {
  readonly lines: LogLine[] = [];
  /** The lines as text, unchanged. */
  text = '';
  readonly #waiting = new Waiting();

  readonly stream = {
    write: (line: string) => {
      this.text += line;
      this.lines.push(JSON.parse(line) as LogLine);
      this.#waiting.notify();
    },
  };

  /** Returns the lines with a message. */
  with(msg: string): LogLine[] {
    return this.lines.filter((line) => line.msg === msg);
  }

  /** Waits for the first line with a message. */
  async until(msg: string): Promise<LogLine> {
    return this.#waiting.until(() => this.with(msg)[0]);
  }
}

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly gateway: Gateway;
  readonly log: Log;
  send(method: string, target: string, options?: SendOptions): Promise<Answer>;
  /** Sends a JSON body. */
  sendJson(
    method: string,
    target: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Sends a DELETE for the entities that match a query. */
  purge(query: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/**
 * Settings for fast tests that leave nothing behind: a free port, immediate retries, a database in
 * memory.
 */
export const QUICK = {
  PORT: '0',
  RETRY_MIN_DELAY_MS: '0',
  RETRY_MAX_DELAY_MS: '0',
  BROKER_AWAY_MS: '0',
  DATABASE_PATH: ':memory:',
  // The hosts that tests use in handwritten requests.
  ALLOWED_HOSTS: 'g,x,a,other,gateway,gateway.test,public.example',
} as const;

const SHARED_DEADLINE_MS = 60_000;

const workers = shared(() => createWorkers({ deadlineMs: SHARED_DEADLINE_MS, clock: systemClock }));

/** Settings with enough time for work on schemas on a slow machine. */
export const PATIENT = { WORKBENCH_TIMEOUT_MS: String(SHARED_DEADLINE_MS) };

/**
 * The workers shared by the gateways and commands in this process, because starting new ones is
 * slow.
 */
export function sharedWorkers(): Workers {
  const all = workers.get();
  return {
    run: (kind, input, options) => all.run(kind, input, onBusyMachine(options)),
    load: () => all.load(),
    close: async () => {},
  };
}

/** Writes are judged within milliseconds, which can be over before a busy machine has begun. */
function onBusyMachine(options: RunOptions = {}): RunOptions {
  const { deadlineMs } = options;
  return deadlineMs === undefined
    ? options
    : { ...options, deadlineMs: Math.max(deadlineMs, Math.min(20 * deadlineMs, SHARED_DEADLINE_MS)) };
}

/**
 * Starts a gateway in this process from environment variables, and captures its log. Clock and
 * randomness can be replaced.
 */
export async function startTestGateway(
  env: Readonly<Record<string, string>> & { readonly BROKER_URL: string },
  options: Omit<GatewayOptions, 'logger'> = {},
): Promise<TestGateway> {
  const config = loadConfig({ ...QUICK, ...env });
  const isUsual = options.clock === undefined && config.WORKBENCH_TIMEOUT_MS === SHARED_DEADLINE_MS;
  const log = new Log();
  const gateway = await startGateway(config, {
    // The provider runs in this process, which may be busy.
    providerTimeoutMs: SHARED_DEADLINE_MS,
    ...(isUsual ? { workers: sharedWorkers() } : {}),
    ...options,
    logger: pino({ level: config.LOG_LEVEL }, log.stream),
  });
  stopLater(async () => {
    const closed = gateway.close();
    await Promise.all([closed, gateway.close()]);
  });
  const { url } = gateway;
  return {
    url,
    port: Number(new URL(url).port),
    gateway,
    log,
    send: async (method, target, options) => send(url, method, target, options),
    sendJson: async (...request) => sendJson(url, ...request),
    purge: async (query, headers = {}) => send(url, 'DELETE', `/ngsi-ld/v1/entities?${query}`, { headers }),
  };
}

/** Starts an embedded broker without sample data. */
export async function startTestBroker(options?: EmbeddedBrokerOptions): Promise<EmbeddedBroker> {
  const broker = await startEmbeddedBroker(options);
  stopLater(() => broker.close());
  return broker;
}
