import type { Clock } from '../shared/clock.js';

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
