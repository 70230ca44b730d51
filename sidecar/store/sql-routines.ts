import { hash } from 'node:crypto';
import type { Clock } from '../shared/clock.js';
import {
  AlreadyExistsError,
  PreconditionFailedError,
  type ResourceRef,
  UnstorableTextError,
} from './errors.js';
import type { Page, Paged } from './records.js';

/**
 * A statement that works in both SQLite and PostgreSQL, with parameters as `@name`. Names of result columns with
 * capital letters are quoted, because PostgreSQL would lower-case them. `now_ms()` is the time of the store, in
 * milliseconds.
 */
export interface Statement<Parameters extends object, Row> {
  readonly sql: string;
  /** Never set: carries the types of the parameters and rows. */
  readonly types?: (parameters: Parameters) => Row;
}

/** A statement with its parameters, for one execution. Parameters are strings, safe integers and null. */
export interface BoundStatement {
  readonly statement: Statement<never, unknown>;
  readonly parameters: object;
}

/** The result of one execution. */
export interface StatementResult {
  readonly rows: readonly unknown[];
  /** The number of rows inserted, updated or deleted, if the statement returns no rows. */
  readonly changes: number;
}

/**
 * Work on a database, written once for both kinds: it yields statements and receives their results. SQLite runs it in a
 * single turn of the event loop; PostgreSQL waits for each answer. It may be run again from the beginning, so it must
 * not have any effects except for its statements.
 */
export type SqlRoutine<T> = Generator<BoundStatement, T, StatementResult>;

/** Makes a statement. @param sql see Statement */
export function statement<Parameters extends object, Row = never>(sql: string): Statement<Parameters, Row> {
  return { sql };
}

/** Runs a statement and returns all its rows. */
export function* all<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): SqlRoutine<readonly Row[]> {
  return (yield { statement, parameters }).rows as readonly Row[];
}

/** Runs a statement that returns at most one row. */
export function* first<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): SqlRoutine<Row | undefined> {
  return (yield* all(statement, parameters))[0];
}

/** Runs a statement that returns no rows. @returns the number of rows it changed */
export function* run<Parameters extends object>(
  statement: Statement<Parameters, never>,
  parameters: Parameters,
): SqlRoutine<number> {
  return (yield { statement, parameters }).changes;
}

/** Runs an INSERT that ends with `RETURNING id`. @returns that id */
export function* insertedId<Parameters extends object>(
  statement: Statement<Parameters, { readonly id: number }>,
  parameters: Parameters,
): SqlRoutine<number> {
  return (yield* first(statement, parameters))?.id ?? NaN;
}

/** How long work waits for the lock of another connection, in milliseconds. */
export const LOCK_WAIT_MS = 5000;

/** A database, as seen by the parts of a store. Every method can fail with StoreUnavailableError. */
export interface SqlSession {
  readonly clock: Clock;

  /** Runs a single statement that only reads. */
  get<T>(work: () => SqlRoutine<T>): Promise<T>;

  /** Runs reads on a single snapshot. */
  read<T>(work: () => SqlRoutine<T>): Promise<T>;

  /** Runs reads and writes in one transaction. No other `write` runs at the same time, so what was read stays true. */
  write<T>(work: () => SqlRoutine<T>): Promise<T>;

  /**
   * Runs reads and writes in one transaction, while others may write. Single statements and constraints must ensure
   * consistency; if a row of another writer conflicts, the work is run again.
   */
  change<T>(work: () => SqlRoutine<T>): Promise<T>;

  /** See SchemaStore.revision. */
  revision(): Promise<string>;

  /** @throws StoreUnavailableError if writes do not work now */
  checkWritable(): Promise<void>;
}

/** Converts an optional version number to a parameter: null means the current version; an invalid number finds nothing. */
export function versionParameter(version: number | undefined): number | null {
  if (version === undefined) return null;
  return Number.isSafeInteger(version) ? version : 0;
}

/** A list that is read page by page, each page with the total count; to be read within a transaction. */
export class SqlListing<Parameters extends object, Row> {
  readonly #total: Statement<Parameters, { readonly n: number }>;
  readonly #page: Statement<Parameters & Page, Row>;

  /** @param select may have any parameters except `limit` and `offset` */
  constructor(select: string, order: string) {
    this.#total = statement(`SELECT count(*) AS n FROM (${select}) AS listed`);
    this.#page = statement(
      `SELECT * FROM (${select}) AS listed ORDER BY ${order} LIMIT @limit OFFSET @offset`,
    );
  }

  /** @throws RangeError for an invalid page, because SQLite treats a negative limit as no limit */
  *read({ limit, offset }: Page, parameters: Parameters): SqlRoutine<Paged<Row>> {
    if (![limit, offset].every((number) => Number.isSafeInteger(number) && number >= 0)) {
      throw new RangeError(`Not a page: limit ${limit}, offset ${offset}`);
    }
    const items = yield* all(this.#page, { ...parameters, limit, offset });
    return { items, total: (yield* first(this.#total, parameters))?.n ?? 0 };
  }
}

/** Converts the items of a page. */
export function mapPage<From, To>({ items, total }: Paged<From>, to: (item: From) => To): Paged<To> {
  return { items: items.map(to), total };
}

/**
 * Computes the ETag of a resource: a hash of all columns it is read from.
 *
 * It is not a counter: after a restore from a backup, a counter would reuse numbers for different states.
 */
export function etagOf(row: object): string {
  return hash('sha256', JSON.stringify(row), 'base64url').slice(0, 22);
}

/** If given, the resource must have one of these ETags, as in an If-Match header (RFC 9110 section 13.1.1). */
export type IfMatch = readonly string[];

/**
 * The required state of a resource before it is put: absent, present in any state, or with one of these ETags. `new` is
 * `absent` for a caller who only wants to create it.
 */
export type Expected = 'new' | 'absent' | 'present' | IfMatch | undefined;

/** @throws PreconditionFailedError if the resource has none of the expected ETags */
export function requireMatch(resource: ResourceRef, etag: string, ifMatch: IfMatch | undefined): void {
  if (ifMatch?.includes(etag) === false) throw new PreconditionFailedError(resource, etag);
}

/**
 * @param etag undefined if the resource does not exist
 * @throws PreconditionFailedError; AlreadyExistsError if it should be `new`
 */
export function requireExpected(resource: ResourceRef, etag: string | undefined, expected: Expected): void {
  if (expected === 'new') {
    if (etag !== undefined) throw new AlreadyExistsError(resource);
    return;
  }
  const holds =
    expected === undefined ||
    (expected === 'absent'
      ? etag === undefined
      : etag !== undefined && (expected === 'present' || expected.includes(etag)));
  if (!holds) throw new PreconditionFailedError(resource, etag);
}

/**
 * Returns the time of a change: later than the previous one, even if the clock goes back, so that no two states look
 * the same.
 */
export function timeAfter(previous: number, clock: Clock): number {
  return Math.max(previous + 1, clock.now());
}

/** Returns a row with undefined instead of null. */
export function withoutNulls<Row extends object>(
  row: Row,
): { readonly [Name in keyof Row]: NullToUndefined<Row[Name]> } {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as {
    readonly [Name in keyof Row]: NullToUndefined<Row[Name]>;
  };
}

type NullToUndefined<Value> = Value extends null ? undefined : Value;

/**
 * Whether a database returns the text exactly as it was stored.
 *
 * A lone surrogate cannot be encoded as UTF-8: it comes back as U+FFFD, and a search for one may match another.
 * PostgreSQL cannot store U+0000.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** @param texts by their names in the error @throws UnstorableTextError naming the first text that cannot be stored */
export function requireStorable(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [what, text] of Object.entries(texts)) {
    if (text !== undefined && !isStorable(text)) throw new UnstorableTextError(what);
  }
}

const INSERT_CONTENT = statement<{ sha256: string; size: number; text: string }>(
  'INSERT INTO content (sha256, size, text) VALUES (@sha256, @size, @text) ON CONFLICT DO NOTHING',
);
const CONTENT_TEXT = statement<{ sha256: string }, { readonly text: string }>(
  'SELECT text FROM content WHERE sha256 = @sha256',
);

/**
 * Stores a text, once per SHA-256. The same transaction must add a row that refers to it: a text without any reference
 * is deleted automatically (by triggers of the migrations).
 *
 * @param what names the text in the error
 * @returns the SHA-256 in hex
 * @throws UnstorableTextError
 */
export function* putContent(what: string, text: string): SqlRoutine<string> {
  requireStorable({ [what]: text });
  const sha256 = sha256Of(text);
  yield* run(INSERT_CONTENT, { sha256, size: Buffer.byteLength(text), text });
  return sha256;
}

/** Returns the SHA-256 of the UTF-8 of a text, in hex. */
export function sha256Of(text: string): string {
  return hash('sha256', text);
}

/** Returns the text with this SHA-256. */
export function* contentText(sha256: string): SqlRoutine<string | undefined> {
  return (yield* first(CONTENT_TEXT, { sha256 }))?.text;
}
