import { createHash } from 'node:crypto';
import type { Statement } from 'better-sqlite3';
import type { Clock } from '../../shared/clock.js';
import { PreconditionFailedError, requireStorable, type Thing } from './errors.js';
import type { Page, Paged } from './records.js';
import type { SqliteSession } from './sqlite-session.js';
import type { IfMatch } from './store.js';

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

/**
 * The ETag of a thing: a hash of all columns it is read from.
 *
 * A hash, not a counter: after a restore from a backup a counter would name other states with numbers already given.
 */
export function etagOf(row: object): string {
  return createHash('sha256').update(JSON.stringify(row)).digest('base64url').slice(0, 22);
}

/** The time of a change: after the one before it, whatever the clock says, so that no two states look the same. */
export function timeAfter(previous: number, clock: Clock): number {
  return Math.max(previous + 1, clock.now());
}

/** @throws PreconditionFailedError when the thing has none of the expected ETags */
export function requireMatch(thing: Thing, etag: string, ifMatch: IfMatch | undefined): void {
  if (ifMatch?.includes(etag) === false) throw new PreconditionFailedError(thing, etag);
}

/** Texts by their SHA-256, each held once. What nothing names any more goes by itself (triggers of the migrations). */
export class SqliteContents {
  readonly #insert: Statement<[string, number, string]>;
  readonly #text: Statement<[string], string>;

  constructor(session: SqliteSession) {
    this.#insert = session.prepare(
      'INSERT INTO content (sha256, size, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#text = session.prepare<[string], string>('SELECT text FROM content WHERE sha256 = ?').pluck();
  }

  /**
   * Keeps a text that the same transaction gives something to name it by.
   *
   * @param what to call it in the error
   * @returns its SHA-256, hex
   * @throws UnstorableTextError
   */
  put(what: string, text: string): string {
    requireStorable({ [what]: text });
    const sha256 = createHash('sha256').update(text).digest('hex');
    this.#insert.run(sha256, Buffer.byteLength(text), text);
    return sha256;
  }

  text(sha256: string): string | undefined {
    return this.#text.get(sha256);
  }
}
