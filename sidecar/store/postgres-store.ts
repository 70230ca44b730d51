import type { Clock } from '../shared/clock.js';
import type { BrokerNotice } from './broker-notes.js';
import { GatewayError } from '../shared/errors.js';
import type { LockWaits } from './sqlite-session.js';
import { connectionConfig, placeOf } from './postgres-config.js';
import { PostgresConnections } from './postgres-connections.js';
import { PostgresListener } from './postgres-listener.js';
import { isHopeless, unusable } from './postgres-errors.js';
import { isMigrated, migratePostgres } from './postgres-migrations.js';
import type { JobNotice } from './job-records.js';
import { PostgresSession } from './postgres-session.js';
import { SqlStore } from './sql-store.js';

export interface PostgresStoreOptions {
  readonly clock: Clock;
  readonly random?: () => number;
  /** Called once when the database cannot be reached, with the error. */
  readonly onAway?: (error: unknown) => void;
  /** Called when it can be used again. */
  readonly onBack?: () => void;
}

/** A store in a schema of PostgreSQL, which several processes share. */
export class PostgresStore extends SqlStore {
  readonly #connections: PostgresConnections;
  readonly #url: string;
  #listener: PostgresListener | undefined;

  /**
   * Opens a store, and creates it where there is none; migrates an older one. While the database cannot be reached, the
   * store is there, and its methods fail with StoreUnavailableError until it can.
   *
   * @param url as libpq takes it
   * @throws DatabaseUnusableError when waiting for the database would not help
   */
  static async open(url: string, options: PostgresStoreOptions): Promise<PostgresStore> {
    const store = new PostgresStore(url, options);
    try {
      await store.#connections.use(async () => {});
    } catch (error) {
      const refusal = refusalOf(error instanceof Error ? error.cause : error, placeOf(url));
      if (refusal === undefined) return store;
      await store.close();
      throw refusal;
    }
    return store;
  }

  private constructor(
    url: string,
    { clock, random = Math.random, onAway = () => {}, onBack = () => {} }: PostgresStoreOptions,
  ) {
    const config = connectionConfig(url);
    const connections = new PostgresConnections({
      ...{ config, clock, random, onAway, onBack },
      prepare: async (client) => {
        if (!(await isMigrated(client, placeOf(url)))) await migratePostgres(config, placeOf(url));
      },
    });
    super(new PostgresSession(connections, clock));
    this.#connections = connections;
    this.#url = url;
  }

  /** Locks are waited for inside the database, which does not report it. */
  override get lockWaits(): LockWaits {
    return { count: 0, ms: 0 };
  }

  override listen(onNotice: (notice: JobNotice | BrokerNotice) => void): void {
    this.#listener ??= new PostgresListener(connectionConfig(this.#url), onNotice);
  }

  override async close(): Promise<void> {
    await this.#listener?.close();
    await this.#connections.close();
  }
}

/** The error with which a start ends; undefined for a database that may only be away. */
function refusalOf(error: unknown, place: string): GatewayError | undefined {
  if (error instanceof GatewayError) return error;
  return isHopeless(error) ? unusable(place, error) : undefined;
}
