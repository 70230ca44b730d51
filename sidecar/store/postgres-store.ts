import { Client, type ClientConfig } from 'pg';
import type { Clock } from '../shared/clock.js';
import { GatewayError } from '../shared/errors.js';
import type { JobNotice } from './job-records.js';
import { connectionConfig, placeOf } from './postgres-config.js';
import { PostgresConnections } from './postgres-connections.js';
import { isPermanent, unusable } from './postgres-errors.js';
import { isMigrated, migratePostgres } from './postgres-migrations.js';
import { PostgresSession } from './postgres-session.js';
import { SqlStore } from './sql-store.js';

/** The channel of the triggers that announce changes to purges; see migrations.ts. */
const CHANNEL = 'ngsi_ld_gateway_job';

/** The pause before connecting again, in milliseconds. */
const RECONNECT_MS = 1000;

/** How often the connection is checked, in milliseconds: it may break without any notice. */
const CHECK_EVERY_MS = 30_000;

/**
 * Listens on its own connection for what other processes do with purges. Notifications are lost
 * while there is no connection, so users of the store also have to poll now and then.
 */
export class PostgresListener {
  readonly #config: ClientConfig;
  readonly #onNotice: (notice: JobNotice) => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(config: ClientConfig, onNotice: (notice: JobNotice) => void) {
    this.#config = config;
    this.#onNotice = onNotice;
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config);
    this.#client = client;
    // 'end' follows an error, too.
    client.on('error', () => {});
    client.on('end', () => this.#reconnect(client));
    client.on('notification', ({ payload }) => {
      const notice = noticeOf(payload ?? '');
      if (notice !== undefined) this.#onNotice(notice);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.#checkLater(client);
    } catch {
      await client.end().catch(() => {});
      this.#reconnect(client);
    }
  }

  #checkLater(client: Client): void {
    if (this.#isClosed || this.#client !== client) return;
    clearTimeout(this.#timer);
    const check = () =>
      client.query('SELECT 1').then(
        () => this.#checkLater(client),
        () => client.end().catch(() => {}),
      );
    this.#timer = setTimeout(() => void check(), CHECK_EVERY_MS).unref();
  }

  #reconnect(client: Client): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), RECONNECT_MS).unref();
  }
}

function noticeOf(payload: string): JobNotice | undefined {
  const [, what, id = ''] = /^(waiting|request|record) (.+)$/s.exec(payload) ?? [];
  return what === undefined ? undefined : { what: what as JobNotice['what'], id };
}

export interface PostgresStoreOptions {
  readonly clock: Clock;
  readonly random?: () => number;
  /** Called once when the database cannot be reached, with the error. */
  readonly onAway?: (error: unknown) => void;
  /** Called when the database can be used again. */
  readonly onBack?: () => void;
}

/** A store in a PostgreSQL schema, which several processes share. */
export class PostgresStore extends SqlStore {
  readonly #connections: PostgresConnections;
  readonly #url: string;
  #listener: PostgresListener | undefined;

  /**
   * Opens a store and migrates an older one; creates it if it does not exist. If the database cannot be reached, it
   * still returns a store, whose methods fail with StoreUnavailableError until the database can be reached.
   *
   * @param url a libpq URL
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
      config,
      clock,
      random,
      onAway,
      onBack,
      prepare: async (client) => {
        if (!(await isMigrated(client, placeOf(url)))) await migratePostgres(config, placeOf(url));
      },
    });
    super(new PostgresSession(connections, clock));
    this.#connections = connections;
    this.#url = url;
  }

  override listen(onNotice: (notice: JobNotice) => void): void {
    this.#listener ??= new PostgresListener(connectionConfig(this.#url), onNotice);
  }

  override async close(): Promise<void> {
    await this.#listener?.close();
    await this.#connections.close();
  }
}

/** Returns the error that ends startup; undefined if the database may only be temporarily unreachable. */
function refusalOf(error: unknown, place: string): GatewayError | undefined {
  if (error instanceof GatewayError) return error;
  return isPermanent(error) ? unusable(place, error) : undefined;
}
