import { createHash } from 'node:crypto';
import type { Clock } from '../shared/clock.js';
import { requireStorable } from './errors.js';
import type { Page, Paged } from './records.js';
import { all, first, run, statement, type Statement, type Work } from './sql-work.js';

/** A list that is read page by page, each with the total; to be read within a transaction. */
export class SqlListing<Parameters extends object, Row> {
  readonly #total: Statement<Parameters, { readonly n: number }>;
  readonly #page: Statement<Parameters & Page, Row>;

  /** @param select with parameters other than `limit` and `offset` */
  constructor(select: string, order: string) {
    this.#total = statement(`SELECT count(*) AS n FROM (${select}) AS listed`);
    this.#page = statement(
      `SELECT * FROM (${select}) AS listed ORDER BY ${order} LIMIT @limit OFFSET @offset`,
    );
  }

  /** @throws RangeError for a wrong page, since SQLite reads a negative limit as no limit */
  *read({ limit, offset }: Page, parameters: Parameters): Work<Paged<Row>> {
    if (![limit, offset].every((number) => Number.isSafeInteger(number) && number >= 0)) {
      throw new RangeError(`Not a page: limit ${limit}, offset ${offset}`);
    }
    const items = yield* all(this.#page, { ...parameters, limit, offset });
    return { items, total: (yield* first(this.#total, parameters))?.n ?? 0 };
  }
}

/** A page of other items. */
export function mapped<From, To>({ items, total }: Paged<From>, to: (item: From) => To): Paged<To> {
  return { items: items.map(to), total };
}

/**
 * The ETag of a thing: a hash of all columns it is read from.
 *
 * A hash, not a counter: after a restore from a backup a counter would name other states with numbers already given.
 */
export function etagOf(row: object): string {
  return createHash('sha256').update(JSON.stringify(row)).digest('base64url').slice(0, 22);
}

/** The time of a change: after the one before it, even if the clock goes back, so that no two states look the same. */
export function timeAfter(previous: number, clock: Clock): number {
  return Math.max(previous + 1, clock.now());
}

/** The values of columns; those that are null are not there. */
export function present<Row extends object>(row: Row): { readonly [Name in keyof Row]: Present<Row[Name]> } {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as {
    readonly [Name in keyof Row]: Present<Row[Name]>;
  };
}

type Present<Value> = Value extends null ? undefined : Value;

const INSERT_CONTENT = statement<{ sha256: string; size: number; text: string }>(
  'INSERT INTO content (sha256, size, text) VALUES (@sha256, @size, @text) ON CONFLICT DO NOTHING',
);
const CONTENT_TEXT = statement<{ sha256: string }, { readonly text: string }>(
  'SELECT text FROM content WHERE sha256 = @sha256',
);

/**
 * Keeps a text, once for each SHA-256. The same transaction gives something to name it by: what nothing names any more goes
 * by itself (triggers of the migrations).
 *
 * @param what to call it in the error
 * @returns its SHA-256, hex
 * @throws UnstorableTextError
 */
export function* putContent(what: string, text: string): Work<string> {
  requireStorable({ [what]: text });
  const sha256 = sha256Of(text);
  yield* run(INSERT_CONTENT, { sha256, size: Buffer.byteLength(text), text });
  return sha256;
}

/** Of the UTF-8 of a text, hex. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The text with this SHA-256. */
export function* contentText(sha256: string): Work<string | undefined> {
  return (yield* first(CONTENT_TEXT, { sha256 }))?.text;
}
