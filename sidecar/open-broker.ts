import { Pool } from 'undici';
import { startEmbeddedBroker, type EmbeddedBroker } from './embedded-broker/index.js';
import {
  BROKER_CONNECTIONS,
  type BrokerClient,
  type BrokerReply,
  type BrokerRequestEnd,
  createBrokerClient,
} from './purge/broker/index.js';
import { systemClock } from './shared/clock.js';
import type { Config } from './shared/config/load.js';
import { type PendingConnections, TurnQueue } from './shared/event-loop.js';

export interface OpenBrokerOptions {
  /** The name of this process in `Via`. */
  readonly viaName: string;
  /** New connections of clients, which take precedence over the work on large answers. */
  readonly newConnections: PendingConnections;
  /** Called for each request of purges, scans and checks. Must not throw. */
  readonly onEnded: (end: BrokerRequestEnd) => void;
}

/** The broker, and the connections of this process to it. */
export interface OpenBroker {
  readonly url: URL;
  /** Undefined if BROKER_URL names another broker. */
  readonly embedded: EmbeddedBroker | undefined;
  /** Client for requests that the gateway makes itself. */
  readonly client: BrokerClient;
  /** Connections for pass-through, one for each request that it admits. */
  readonly pool: Pool;
  /** How far the clock of this machine is ahead of the broker's, in milliseconds; undefined if no answer has shown it yet. */
  readonly aheadMs: () => number | undefined;
  /** Ends everything that waits for the broker, without the broker's answers. */
  abortRequests(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the connections to the configured broker, or to an embedded one that it starts in this process. */
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
    // Compares the broker's `Date` with the time of day, which retention uses as well.
    onReply: (reply) => (aheadMs = clockAheadMs(reply, systemClock.now()) ?? aheadMs),
    onEnded,
  });
  const pool = new Pool(url.origin, {
    ...BROKER_CONNECTIONS,
    connect: { timeout: config.BROKER_TIMEOUT_MS },
  });
  const abortRequests = async () => {
    await Promise.allSettled([client.close(), pool.destroy()]);
  };
  return {
    url,
    embedded,
    client,
    pool,
    aheadMs: () => aheadMs,
    abortRequests,
    async close() {
      await abortRequests();
      await embedded?.close();
    },
  };
}

/**
 * Returns how far the clock of this machine is ahead of the broker's, in milliseconds, according to the `Date` of an answer;
 * undefined without a `Date`.
 *
 * @param nowMs when the answer arrived, by the clock of this machine
 */
export function clockAheadMs({ headers }: Pick<BrokerReply, 'headers'>, nowMs: number): number | undefined {
  const madeMs = Date.parse(headers.get('date') ?? '');
  // An answer from a cache was created some seconds ago.
  const seconds = Number(/^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? 0);
  return Number.isNaN(madeMs) ? undefined : nowMs - madeMs - seconds * 1000;
}
