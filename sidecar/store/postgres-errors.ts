import { DatabaseError } from 'pg';
import { DatabaseUnusableError, StoreUnavailableError } from './errors.js';

/**
 * Why PostgreSQL did not carry out a statement, as far as it is known.
 * `lost`: the connection is gone, or is to a server that takes no writes. `conflict`: another writer was in the way, and the
 * transaction can be run again. `unknown`: the connection broke during a commit. `failed`: anything else.
 */
export type FailureKind = 'lost' | 'conflict' | 'unknown' | 'failed';

/** A statement failed; `cause` is the error of the driver. */
export class StatementFailure extends Error {
  readonly kind: FailureKind;

  constructor(
    override readonly cause: unknown,
    kind: FailureKind = kindOf(cause),
  ) {
    super('A statement failed.', { cause });
    this.kind = kind;
  }

  /** Whether its connection can no longer be used. */
  get isBroken(): boolean {
    return this.kind === 'lost' || this.kind === 'unknown';
  }
}

/**
 * Error classes of PostgreSQL (appendix A of its manual) after which the connection can no longer be used. 0A000 comes from
 * statements that were prepared before a migration.
 */
const LOST = /^(?:08|57P0[1-5]|25P03|25P04|25006|0A000)/;

/** Serialization failure, deadlock, and a row that another transaction has added in the meantime. */
const CONFLICT = /^(?:40001|40P01|23505|23P01)$/;

/** Failures that end a start, because waiting does not help: rights, names, certificates. */
const HOPELESS =
  /^(?:28|3D000|3F000|42501|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY)|ERR_SSL|ERR_OSSL)/;

function kindOf(error: unknown): FailureKind {
  // Errors of the driver itself are about the connection: ended, reset, no answer in time.
  if (!(error instanceof DatabaseError)) return 'lost';
  const code = error.code ?? '';
  if (LOST.test(code)) return 'lost';
  return CONFLICT.test(code) ? 'conflict' : 'failed';
}

/** Whether connecting will fail however often it is tried. */
export function isHopeless(error: unknown): boolean {
  return HOPELESS.test(codeOf(error)) || /does not support SSL/.test(messageOf(error));
}

/** Whether a connection broke after the server had accepted it. */
export function isCut(error: unknown): boolean {
  return (
    /^(?:57P0[12]|ECONNRESET|EPIPE)$/.test(codeOf(error)) || /terminated unexpectedly/.test(messageOf(error))
  );
}

/** An error as clients see it: the names of hosts and users are only in its cause. */
export function unavailable(what: string, cause: unknown): StoreUnavailableError {
  const code = codeOf(cause);
  return new StoreUnavailableError(code === '' ? `${what}.` : `${what} (${code}).`, { cause });
}

/** The error with which a start or a command ends. @param place the database, without credentials */
export function unusable(place: string, cause: unknown): DatabaseUnusableError {
  const code = codeOf(cause);
  const why = `${messageOf(cause)}${code === '' ? '' : ` (${code})`}`;
  return new DatabaseUnusableError(`${place} cannot be used as a database: ${why}.`, { cause });
}

/** The error code of PostgreSQL or of the system; empty where there is none. */
export function codeOf(error: unknown): string {
  // An AggregateError is of a host name with several addresses, none of which can be reached.
  const one = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return one instanceof Error && 'code' in one && typeof one.code === 'string' ? one.code : '';
}

/** What an error says, for the operator. */
export function messageOf(error: unknown): string {
  const one = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return one instanceof Error ? one.message : String(one);
}
