import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';

/** The built gateway in a separate process. */
export interface BenchGateway {
  readonly url: string;
  readonly pid: number;
  /**
   * Purges all entities of a type, as a client does.
   *
   * @throws Error unless the answer says that exactly `amount` entities were deleted
   */
  purge(type: string, amount: number): Promise<void>;
  close(): Promise<void>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** Settings that benches set; all others have their defaults. */
export type GatewaySettings = Readonly<
  Partial<
    Record<
      | 'PURGE_STRATEGY'
      | 'PURGE_CONCURRENCY'
      | 'PURGE_PAGE_SIZE'
      | 'PURGE_BATCH_SIZE'
      | 'DATABASE_PATH'
      | 'DATABASE_URL'
      | 'INSTANCE_NAME'
      | 'BROKER_URL'
      | 'WRITE_CHECK'
      | 'PURGE_ARCHIVE'
      | 'ARCHIVE_URL'
      | 'OTEL_EXPORTER_OTLP_ENDPOINT'
      | 'OTEL_TRACES_SAMPLER_ARG',
      string | number
    >
  >
>;

const MAIN = fileURLToPath(new URL('../../dist/sidecar/main.js', import.meta.url));

/**
 * Starts the built gateway as `npm start` does, in production mode.
 *
 * @param nodeOptions additional Node options, besides those of `npm start`
 * @throws Error if its process ends before it listens
 */
export async function startGateway(
  brokerUrl: string,
  settings: GatewaySettings = {},
  nodeOptions: readonly string[] = [],
): Promise<BenchGateway> {
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', '--max-semi-space-size=16', ...nodeOptions, MAIN],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: '0',
        DATABASE_PATH: ':memory:',
        BROKER_URL: brokerUrl,
        ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])),
      },
    },
  );
  const exited = once(child, 'exit');
  // Whatever ends this process also ends the gateway.
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const url = await Promise.race([
    listeningUrl(child.stdout),
    exited.then(([code]) => {
      throw new Error(`The gateway ended with code ${String(code)} before it listened.`);
    }),
  ]);
  return {
    url,
    pid: child.pid ?? 0,
    purge: async (type, amount) => {
      const { statusCode, headers, body } = await request(`${url}/ngsi-ld/v1/entities?type=${type}`, {
        method: 'DELETE',
        headersTimeout: 0,
      });
      const text = await body.text();
      if (statusCode !== 204 || headers['purge-deleted'] !== String(amount)) {
        throw new Error(
          `A purge of ${amount} ended with ${statusCode}, deleted ${String(headers['purge-deleted'])}: ${text}`,
        );
      }
    },
    close: async () => {
      process.removeListener('exit', kill);
      child.kill('SIGTERM');
      await exited;
    },
    kill: async () => {
      process.removeListener('exit', kill);
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Reads the log up to the line with the URL of the gateway, and discards the rest. */
async function listeningUrl(log: Readable): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: log });
    lines.on('line', (line) => {
      const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
      if (msg !== 'listening' || url === undefined) return;
      lines.close();
      log.resume();
      resolve(url);
    });
  });
}
