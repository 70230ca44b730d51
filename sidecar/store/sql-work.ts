import { createHash } from 'node:crypto';
import type { Clock } from '../shared/clock.js';
import { PreconditionFailedError, type Thing, UnstorableTextError } from './errors.js';
import type { Page, Paged } from './records.js';
import type { Expected, IfMatch } from './store.js';

/**
 * A statement, the same for SQLite and PostgreSQL, with parameters as `@name`. Names of result columns that have capitals
 * are quoted, because PostgreSQL would make them small. `now_ms()` is the time of the store, in milliseconds.
 */
export interface Statement<Parameters extends object, Row> {
  readonly sql: string;
  /** Never there: says what the statement takes and gives. */
  readonly types?: (parameters: Parameters) => Row;
}

/** One execution of a statement. Parameters are texts, safe integers and null. */
export interface Step {
  readonly statement: Statement<never, unknown>;
  readonly parameters: object;
}

/** What came of it. */
export interface StepResult {
  readonly rows: readonly unknown[];
  /** Rows that were inserted, updated or deleted, where the statement gives no rows. */
  readonly changes: number;
}

/**
 * Work on a database, written once for all databases: it yields statements, and is given what came of each. SQLite runs it
 * in one go and lets nothing else run meanwhile; PostgreSQL waits for each answer. It may be run again from its beginning,
 * so it has no effects but its statements.
 */
export type Work<T> = Generator<Step, T, StepResult>;

/** @param sql see Statement */
export function statement<Parameters extends object, Row = never>(sql: string): Statement<Parameters, Row> {
  return { sql };
}

/** Runs a statement, and takes all rows that it gives. */
export function* all<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): Work<readonly Row[]> {
  return (yield { statement, parameters }).rows as readonly Row[];
}

/** Runs a statement that gives at most one row. */
export function* first<Parameters extends object, Row>(
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): Work<Row | undefined> {
  return (yield* all(statement, parameters))[0];
}

/** Runs a statement that gives no rows. @returns how many rows it has changed */
export function* run<Parameters extends object>(
  statement: Statement<Parameters, never>,
  parameters: Parameters,
): Work<number> {
  return (yield { statement, parameters }).changes;
}

/** Runs an INSERT that ends with `RETURNING id`. @returns that id */
export function* insertedId<Parameters extends object>(
  statement: Statement<Parameters, { readonly id: number }>,
  parameters: Parameters,
): Work<number> {
  return (yield* first(statement, parameters))?.id ?? NaN;
}

/** How long work waits for the lock of another connection, in milliseconds. */
export const LOCK_WAIT_MS = 5000;

/** A database, as the parts of a store see it. Every method can fail with StoreUnavailableError. */
export interface SqlSession {
  readonly clock: Clock;

  /** Runs a single statement that reads. */
  get<T>(work: () => Work<T>): Promise<T>;

  /** Runs reads that belong to one moment. */
  read<T>(work: () => Work<T>): Promise<T>;

  /** Runs reads and writes as one. No other `write` runs meanwhile, so that what was read stays true. */
  write<T>(work: () => Work<T>): Promise<T>;

  /**
   * Runs reads and writes as one, while others may write. What has to hold must be held by single statements and by
   * constraints; where a row of another writer is in the way, the work is run again.
   */
  change<T>(work: () => Work<T>): Promise<T>;

  /** See SchemaStore. */
  revision(): Promise<string>;

  /** @throws StoreUnavailableError when nothing can be written now */
  checkWritable(): Promise<void>;
}

/** The parameter for an optional version number: null means the current one; anything but a number finds nothing. */
export function versionParameter(version: number | undefined): number | null {
  if (version === undefined) return null;
  return Number.isSafeInteger(version) ? version : 0;
}

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

/** @throws PreconditionFailedError when the thing has none of the expected ETags */
export function requireMatch(thing: Thing, etag: string, ifMatch: IfMatch | undefined): void {
  if (ifMatch?.includes(etag) === false) throw new PreconditionFailedError(thing, etag);
}

/**
 * @param etag undefined for a thing that is not there
 * @throws PreconditionFailedError
 */
export function requireExpected(thing: Thing, etag: string | undefined, expected: Expected): void {
  const holds =
    expected === undefined ||
    (expected === 'absent'
      ? etag === undefined
      : etag !== undefined && (expected === 'present' || expected.includes(etag)));
  if (!holds) throw new PreconditionFailedError(thing, etag);
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

const UNSTORABLE = /[\0\p{Surrogate}]/u;

/**
 * True for text that comes back from a database as it went in.
 *
 * A lone surrogate has no UTF-8: it comes back as U+FFFD, and looking for one may find another. PostgreSQL holds no
 * U+0000.
 */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/**
 * @param texts by what to call them in the error
 * @throws UnstorableTextError naming the first that cannot be stored
 */
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
