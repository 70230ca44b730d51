import { Pool, type ClientConfig, type PoolClient } from 'pg';
import type { Clock } from '../shared/clock.js';
import { StoreUnavailableError } from './errors.js';
import { codeOf, isConnectionLost, StatementFailure, unavailable } from './postgres-errors.js';

/** Connections of one process; PostgreSQL allows 100 in total by default. */
const MAX_CONNECTIONS = 10;

/** How long no more connections are made than a server allowed that had no more, in milliseconds. */
const LIMITED_MS = 60_000;

/** How many tasks may wait for a connection at a time; further ones fail at once. */
const MAX_WAITING = 1000;

/** PostgreSQL's error code for a limit of the server, the database or the role. */
const TOO_MANY_CONNECTIONS = '53300';

/** Limits of the pause between attempts to connect to an unreachable database, in milliseconds. */
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

export interface ConnectionsOptions {
  readonly config: ClientConfig;
  readonly clock: Clock;
  readonly random: () => number;
  /** Makes the database usable; called on the first connection, and on the first after each outage. */
  readonly prepare: (client: PoolClient) => Promise<void>;
  /** Called once when the database cannot be reached, with the error. */
  readonly onAway: (error: unknown) => void;
  /** Called when the database can be used again. */
  readonly onBack: () => void;
}

/**
 * The connections to a PostgreSQL database. If no connection can be made, tasks fail at once during a pause, which
 * grows to two seconds, before the next attempt.
 */
export class PostgresConnections {
  readonly #options: ConnectionsOptions;
  readonly #pool: Pool;
  #away: { readonly error: unknown; readonly pauseMs: number; readonly untilMs: number } | undefined;
  #prepared: Promise<void> | undefined;
  #limitedUntilMs = -Infinity;
  #closed: Promise<void> | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pool = new Pool({ ...options.config, max: MAX_CONNECTIONS, allowExitOnIdle: true });
    // A connection that breaks while idle leaves the pool by itself; one in use fails in the code that uses it.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * Runs work on a connection that nothing else uses in the meantime.
   *
   * @throws StoreUnavailableError when no connection is available; any error that the work throws
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

  /** Ends all connections once the work on them is done. */
  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }

  async #connect(): Promise<PoolClient> {
    if (this.#closed !== undefined) throw new StoreUnavailableError('The store is closed.');
    if (this.#away !== undefined && this.#options.clock.monotonicMs() < this.#away.untilMs)
      throw unavailable('The database cannot be reached', this.#away.error);
    if (this.#pool.waitingCount >= MAX_WAITING) throw busy();
    const sinceMs = this.#options.clock.monotonicMs();
    if (sinceMs >= this.#limitedUntilMs) this.#pool.options.max = MAX_CONNECTIONS;
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

  /**
   * Takes a connection. If one is cut while being made, tries once more: a single cut connection is not an outage. If
   * the server has no more connections for this process than there are, waits for one of these.
   */
  async #takeOne(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      const { totalCount, options } = this.#pool;
      if (codeOf(error) === TOO_MANY_CONNECTIONS && totalCount > 0) {
        options.max = totalCount;
        this.#limitedUntilMs = this.#options.clock.monotonicMs() + LIMITED_MS;
        return this.#takeOne();
      }
      if (this.#away !== undefined || !isConnectionLost(error)) throw error;
      return this.#pool.connect();
    }
  }

  /** Prepares the database. Several connections that are made at the same time share one preparation. */
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
    // A concurrent attempt has already noted this outage.
    if (before !== undefined && sinceMs < before.untilMs) return;
    const pauseMs = Math.min(MAX_PAUSE_MS, (before?.pauseMs ?? MIN_PAUSE_MS / 2) * 2);
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
