import { Client, type ClientConfig } from 'pg';
import type { BrokerNotice } from './broker-notes.js';
import type { JobNotice } from './job-records.js';

/** The channel of the triggers that announce changes of purges, and notes about brokers; see postgres-migrations.ts. */
const CHANNEL = 'ngsi_ld_gateway_purge';

/** The pause before another connection is tried, in milliseconds. */
const AGAIN_MS = 1000;

/** A connection that has broken without a word is noticed after so long, in milliseconds. */
const CHECK_EVERY_MS = 30_000;

/**
 * Listens to what other processes do with purges and learn about brokers, on a connection of its own. What happens while there
 * is none is not heard, so the listener also looks by itself now and then.
 */
export class PostgresListener {
  readonly #config: ClientConfig;
  readonly #onNotice: (notice: JobNotice | BrokerNotice) => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(config: ClientConfig, onNotice: (notice: JobNotice | BrokerNotice) => void) {
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
    // The end comes after an error as well.
    client.on('error', () => {});
    client.on('end', () => this.#again(client));
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
      this.#again(client);
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

  #again(client: Client): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), AGAIN_MS).unref();
  }
}

function noticeOf(payload: string): JobNotice | BrokerNotice | undefined {
  const [, what, id = ''] = /^(waiting|wish|record|learnt) (.+)$/s.exec(payload) ?? [];
  if (what === 'learnt') return { what, writer: id };
  return what === undefined ? undefined : { what: what as JobNotice['what'], id };
}
