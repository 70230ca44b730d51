import type { Statement } from 'better-sqlite3';
import type { Page, Paged } from './records.js';
import type { SqliteSession } from './sqlite-session.js';

/** A list that is read page by page, each with the total; to be read within a transaction. */
export class SqliteListing<Parameters extends object, Row> {
  readonly #total: Statement<[object], { n: number }>;
  readonly #page: Statement<[object], Row>;

  /** @param select with named parameters, other than `limit` and `offset` */
  constructor(session: SqliteSession, select: string, order: string) {
    this.#total = session.prepare(`SELECT count(*) AS n FROM (${select})`);
    this.#page = session.prepare(`SELECT * FROM (${select}) ORDER BY ${order} LIMIT @limit OFFSET @offset`);
  }

  /** @throws RangeError when the page is not one: SQLite would take a negative limit for none */
  read<Item>({ limit, offset }: Page, parameters: Parameters, toItem: (row: Row) => Item): Paged<Item> {
    if (![limit, offset].every((number) => Number.isSafeInteger(number) && number >= 0)) {
      throw new RangeError(`No page: limit ${limit}, offset ${offset}`);
    }
    const rows = this.#page.all({ ...parameters, limit, offset });
    return { items: rows.map(toItem), total: this.#total.get(parameters)?.n ?? 0 };
  }
}
