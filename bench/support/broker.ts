import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { BrokerAnswer, BrokerCommand } from './broker-protocol.js';

/** The embedded broker in a separate process. */
export interface BenchBroker {
  /** Base URL without a slash at the end. */
  readonly url: string;
  /**
   * Creates `amount` entities of a type, with the ids of entityIds(), and with `attributes` more attributes of about 100 bytes
   * each.
   */
  seed(type: string, amount: number, attributes?: number): Promise<void>;
  /** Returns the number of entities. */
  count(): Promise<number>;
  close(): Promise<void>;
}

/** Returns the ids of the entities that seed() creates. */
export function entityIds(type: string, amount: number): readonly string[] {
  return Array.from({ length: amount }, (_, index) => `urn:ngsi-ld:${type}:${index}`);
}

const ROOT = join(import.meta.dirname, '../..');
const BROKER = join(ROOT, '.tests/.bench/broker.mjs');
let bundled: Promise<unknown> | undefined;

/** Bundles the embedded broker into one plain file, so that no loader affects the measurements. */
async function bundle(): Promise<void> {
  bundled ??= build({
    entryPoints: [join(ROOT, 'sidecar/embedded-broker/index.ts')],
    outfile: BROKER,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  await bundled;
}

/**
 * Starts the embedded broker in a child process.
 *
 * @param latencyMs how long every request waits before the broker handles it, in milliseconds
 * @throws Error if the process ends, or reports that a command failed
 */
export async function startBroker(latencyMs: number): Promise<BenchBroker> {
  await bundle();
  const child = fork(new URL('./broker-process.js', import.meta.url), [BROKER], {
    execArgv: ['--expose-gc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The broker's process ended with code ${String(code)}.`);
  });
  // Its end only matters to a caller that waits for an answer.
  ended.catch(() => {});

  /** One command at a time: answers carry no number. */
  async function tell(command: BrokerCommand): Promise<string | number> {
    const answered = once(child, 'message') as Promise<[BrokerAnswer]>;
    child.send(command);
    const [answer] = await Promise.race([answered, ended]);
    if ('error' in answer) throw new Error(`The broker failed: ${answer.error}`);
    return answer.value;
  }

  const url = String(await tell({ do: 'start', latencyMs }));
  return {
    url,
    seed: async (type, amount, attributes = 0) => {
      const count = await tell({ do: 'seed', type, amount, attributes });
      if (count !== amount)
        throw new Error(`The broker holds ${count} entities where ${amount} were expected.`);
    },
    count: async () => Number(await tell({ do: 'count' })),
    close: async () => {
      child.disconnect();
      await ended.catch(() => {});
    },
  };
}
