import { Pool } from 'undici';
import { startEmbeddedBroker, type EmbeddedBroker } from './embedded-broker/index.js';
import {
  type BrokerClient,
  type BrokerReply,
  type BrokerRequestEnd,
  createBrokerClient,
} from './purge/broker/index.js';
import { systemClock } from './shared/clock.js';
import type { Config } from './shared/config/load.js';
import { type NewConnections, TurnQueue } from './shared/next-turn.js';

export interface OpenBrokerOptions {
  /** The name of this process in `Via`. */
  readonly viaName: string;
  /** Connections of clients, which go before the work on large answers. */
  readonly newConnections: NewConnections;
  /** Told of each request of purges, scans and checks. Must not throw. */
  readonly onEnded: (end: BrokerRequestEnd) => void;
}

/** The broker, and the connections of this process to it. */
export interface OpenBroker {
  readonly url: URL;
  /** Undefined where BROKER_URL names another one. */
  readonly embedded: EmbeddedBroker | undefined;
  /** For what the gateway asks of its own accord. */
  readonly client: BrokerClient;
  /** For pass-through: as many connections as it lets requests in. */
  readonly pool: Pool;
  /** How far the clock of this machine is ahead of the broker's, in milliseconds; undefined where no answer has shown it. */
  readonly aheadMs: () => number | undefined;
  /** Ends what waits for the broker, without its answers. */
  cutOff(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the connections to the broker that the configuration names, or to one that it starts in this process. */
export async function openBroker(
  config: Pick<Config, 'BROKER_URL' | 'BROKER_TIMEOUT_MS'>,
  options: OpenBrokerOptions,
): Promise<OpenBroker> {
  const { viaName, newConnections, onEnded } = options;
  const embedded =
    config.BROKER_URL === 'embedded' ? await startEmbeddedBroker({ sampleData: true }) : undefined;
  const url = embedded === undefined ? (config.BROKER_URL as URL) : new URL(embedded.url);
  let aheadMs: number | undefined;
  const client = createBrokerClient({
    brokerUrl: url,
    timeoutMs: config.BROKER_TIMEOUT_MS,
    viaName,
    large: new TurnQueue(newConnections),
    // The time of day, as retention has it.
    onReply: (reply) => (aheadMs = clockAheadMs(reply, systemClock.now()) ?? aheadMs),
    onEnded,
  });
  const pool = new Pool(url.origin, { connections: null, connect: { timeout: config.BROKER_TIMEOUT_MS } });
  const cutOff = async () => {
    await Promise.allSettled([client.close(), pool.destroy()]);
  };
  return {
    url,
    embedded,
    client,
    pool,
    aheadMs: () => aheadMs,
    cutOff,
    async close() {
      await cutOff();
      await embedded?.close();
    },
  };
}

/**
 * How far the clock of this machine is ahead of the broker's, as the `Date` of an answer shows it, in milliseconds; undefined
 * without one.
 *
 * @param nowMs when the answer came, by the clock of this machine
 */
export function clockAheadMs({ headers }: Pick<BrokerReply, 'headers'>, nowMs: number): number | undefined {
  const madeMs = Date.parse(headers.get('date') ?? '');
  // An answer out of a cache was made some seconds ago.
  const seconds = Number(/^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? 0);
  return Number.isNaN(madeMs) ? undefined : nowMs - madeMs - seconds * 1000;
}
