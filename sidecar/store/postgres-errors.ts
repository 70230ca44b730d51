import { DatabaseError } from 'pg';
import { DatabaseUnusableError, StoreUnavailableError } from './errors.js';
import { errorCode } from '../shared/errors.js';

/**
 * Why PostgreSQL did not carry out a statement, as far as it is known.
 * `lost`: the connection broke, or leads to a server that accepts no writes. `conflict`: another writer interfered, and
 * the transaction can be retried. `unknown`: the connection broke during a commit. `unstorable`: no retry helps with this
 * data. `failed`: anything else.
 */
export type FailureKind = 'lost' | 'conflict' | 'unknown' | 'unstorable' | 'failed';

/** A statement failed; `cause` is the driver's error. */
export class StatementFailure extends Error {
  readonly kind: FailureKind;

  constructor(
    override readonly cause: unknown,
    kind: FailureKind = kindOf(cause),
  ) {
    super('A statement failed.', { cause });
    this.kind = kind;
  }

  /** Whether the connection can no longer be used. */
  get isBroken(): boolean {
    return this.kind === 'lost' || this.kind === 'unknown';
  }
}

/**
 * PostgreSQL error codes (appendix A of its manual) after which the connection can no longer be used. 0A000 occurs for
 * statements that were prepared before a migration.
 */
const LOST = /^(?:08|57P0[1-5]|25P03|25P04|25006|0A000)/;

/** Serialization failure, deadlock, and a conflicting row that another transaction has added in the meantime. */
const CONFLICT = /^(?:40001|40P01|23505|23P01)$/;

/** Data exceptions, and limits of PostgreSQL such as the size of an index row. */
const UNSTORABLE = /^(?:22|54)/;

/** Failures that end startup, because waiting does not help: permissions, names, certificates. */
const PERMANENT =
  /^(?:28|3D000|3F000|42501|ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY)|ERR_SSL|ERR_OSSL)/;

function kindOf(error: unknown): FailureKind {
  // The driver's own errors concern the connection: ended, reset, no answer in time.
  if (!(error instanceof DatabaseError)) return 'lost';
  const code = error.code ?? '';
  if (LOST.test(code)) return 'lost';
  if (CONFLICT.test(code)) return 'conflict';
  return UNSTORABLE.test(code) ? 'unstorable' : 'failed';
}

/** Whether retrying the connection can never help. */
export function isPermanent(error: unknown): boolean {
  return PERMANENT.test(codeOf(error)) || /does not support SSL/.test(messageOf(error));
}

/** Whether a connection broke after the server had accepted it. */
export function isConnectionLost(error: unknown): boolean {
  return (
    /^(?:57P0[12]|ECONNRESET|EPIPE)$/.test(codeOf(error)) || /terminated unexpectedly/.test(messageOf(error))
  );
}

/** Makes the error that clients see: names of hosts and users appear only in its cause. */
export function unavailable(what: string, cause: unknown): StoreUnavailableError {
  const code = codeOf(cause);
  return new StoreUnavailableError(code === '' ? `${what}.` : `${what} (${code}).`, { cause });
}

/** Makes the error that ends startup or a command. @param place the database, without credentials */
export function unusable(place: string, cause: unknown): DatabaseUnusableError {
  const code = codeOf(cause);
  const why = `${messageOf(cause)}${code === '' ? '' : ` (${code})`}`;
  return new DatabaseUnusableError(`${place} cannot be used as a database: ${why}.`, { cause });
}

/** Returns the error code of PostgreSQL or of the system; empty if there is none. */
export function codeOf(error: unknown): string {
  // An AggregateError means that no address of the host name can be reached.
  const one = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return errorCode(one) ?? '';
}

/** Returns the message of an error, for the operator. */
export function messageOf(error: unknown): string {
  const one = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return one instanceof Error ? one.message : String(one);
}
