import { Pool, type ClientConfig, type PoolClient } from 'pg';
import type { Clock } from '../shared/clock.js';
import { StoreUnavailableError } from './errors.js';
import { isCut, StatementFailure, unavailable } from './postgres-errors.js';

/** Connections of one process; PostgreSQL allows 100 in all by default. */
const MAX_CONNECTIONS = 10;

/** Work that waits for a connection at a time; more of it fails at once. */
const WAITING_MAX = 1000;

/** Pauses between attempts to connect to a database that is away, in milliseconds. */
const LEAST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

export interface ConnectionsOptions {
  readonly config: ClientConfig;
  readonly clock: Clock;
  readonly random: () => number;
  /** Makes the database usable, on the first connection and on the first after each outage. */
  readonly prepare: (client: PoolClient) => Promise<void>;
  /** Called once when the database cannot be reached, with the error. */
  readonly onAway: (error: unknown) => void;
  /** Called when it can be used again. */
  readonly onBack: () => void;
}

/**
 * The connections to a PostgreSQL. Where none can be made, work fails at once for a while, which grows to two seconds, before
 * another attempt.
 */
export class PostgresConnections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  #away: { readonly error: unknown; readonly pauseMs: number; readonly untilMs: number } | undefined;
  #prepared: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pool = new Pool({ ...options.config, max: MAX_CONNECTIONS, allowExitOnIdle: true });
    // A connection that breaks while nothing uses it leaves the pool by itself; one in use fails where it is used.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Does work on a connection that nothing else uses meanwhile.
   *
   * @throws StoreUnavailableError when there is none; what the work throws
   */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      broken = error instanceof StatementFailure && error.isBroken;
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Ends all connections, when what is at work on them is done. */
  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }

  async #connect(): Promise<PoolClient> {
    if (this.#closed !== undefined) throw new StoreUnavailableError('The store is closed.');
    if (this.#away !== undefined && this.#options.clock.monotonicMs() < this.#away.untilMs)
      throw unavailable('The database cannot be reached', this.#away.error);
    if (this.#pool.waitingCount >= WAITING_MAX) throw busy();
    const sinceMs = this.#options.clock.monotonicMs();
    let client: PoolClient | undefined;
    try {
      client = await this.#takeOne();
      await this.#prepare(client);
    } catch (error) {
      client?.release(true);
      if (client === undefined && this.#isFull(error)) throw busy(error);
      this.#noteAway(error, sinceMs);
      throw unavailable('The database cannot be reached', error);
    }
    this.#noteBack();
    return client;
  }

  /** A connection that breaks while it is made may have been cut by itself: that alone is not an outage. */
  async #takeOne(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (this.#away !== undefined || !isCut(error)) throw error;
      return this.#pool.connect();
    }
  }

  /** Several connections that are made at once share what one of them does. */
  #prepare(client: PoolClient): Promise<void> {
    this.#prepared ??= this.#options.prepare(client);
    return this.#prepared;
  }

  /** Whether an error means that all connections are in use. */
  #isFull(error: unknown): boolean {
    return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
  }

  #noteAway(error: unknown, sinceMs: number): void {
    this.#prepared = undefined;
    const { clock, random, onAway } = this.#options;
    const before = this.#away;
    // Another attempt of the same moment has noted it.
    if (before !== undefined && sinceMs < before.untilMs) return;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, (before?.pauseMs ?? LEAST_PAUSE_MS / 2) * 2);
    this.#away = { error, pauseMs, untilMs: clock.monotonicMs() + pauseMs * (0.5 + random() / 2) };
    if (before === undefined) onAway(error);
  }

  #noteBack(): void {
    if (this.#away === undefined) return;
    this.#away = undefined;
    this.#options.onBack();
  }
}

function busy(cause?: unknown): StoreUnavailableError {
  return new StoreUnavailableError('All connections to the database are in use.', { cause });
}
