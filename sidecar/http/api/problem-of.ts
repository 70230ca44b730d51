import { ContextInvalidError } from '../../schemas/json-ld/errors.js';
import {
  BundledContextError,
  ContextBaseError,
  FileNotFoundError,
  IncompatibleChangeError,
  NameError,
  OvertakenError,
  ReferenceUriError,
  SchemaNotAcceptedError,
} from '../../schemas/service/errors.js';
import {
  AlreadyExistsError,
  DependencyChangedError,
  InUseError,
  NotFoundError,
  PreconditionFailedError,
  ReadOnlyContextError,
  StoreUnavailableError,
  UnstorableTextError,
} from '../../schemas/store/errors.js';
import {
  DeadlineExceededError,
  UnreadableBodyError,
  WorkbenchRefusedError,
  type RefusalCode,
} from '../../schemas/workbench/errors.js';
import { TaskTooCostlyError, WorkersBusyError } from '../../shared/workers/errors.js';
import { answer, type ProblemAnswer } from '../problem-answer.js';
import { problemKinds, type ProblemName } from './problem-kinds.js';
import { unreadableBody } from './unreadable-body.js';

/** Seconds after which a client may come back to workers that are busy, or to a store that is not available. */
const RETRY_AFTER = { 'retry-after': '1' };

/** What remains of a context that is read-only. */
const READ_METHODS = { allow: 'GET, HEAD, OPTIONS' };

/** Refusals of schemas, by the code of the error. */
const SCHEMA_REFUSALS: ReadonlyMap<string, ProblemName> = new Map([
  ['SCHEMA_INVALID', 'schemaInvalid'],
  ['SCHEMA_DIALECT_UNSUPPORTED', 'schemaDialectUnsupported'],
  ['SCHEMA_LIMIT_EXCEEDED', 'schemaTooLarge'],
  ['SCHEMA_REFERENCE_DANGLING', 'schemaReferenceDangling'],
  ['SCHEMA_NOT_CONVERTIBLE', 'schemaNotConvertible'],
  ['SCHEMA_TOO_COSTLY', 'schemaTooCostly'],
]);

/** Refusals of the workbench. */
const WORK_REFUSALS: Readonly<Record<RefusalCode, ProblemName>> = {
  BODY_INVALID: 'bodyInvalid',
  CONTEXT_NOT_HAD: 'contextNotHad',
  CONTEXT_REFUSED: 'contextRefused',
  CONTEXT_UNUSABLE: 'contextInvalid',
  DATA_DROPPED: 'dataDropped',
  JSON_LD_INVALID: 'jsonLdInvalid',
  LIMIT_EXCEEDED: 'limitExceeded',
  SAMPLES_INVALID: 'bodyInvalid',
  SAMPLES_TOO_RICH: 'limitExceeded',
};

/**
 * Turns the errors of the schema service, and of the rooms below it, into problems.
 *
 * @returns undefined for errors that are none of theirs, or that nobody foresaw
 */
export function apiProblemOf(error: unknown): ProblemAnswer | undefined {
  if (error instanceof NotFoundError || error instanceof FileNotFoundError) return of('notFound', error);
  if (error instanceof AlreadyExistsError) return of('alreadyExists', error);
  if (error instanceof PreconditionFailedError) {
    const headers: Readonly<Record<string, string>> =
      error.etag === undefined ? {} : { etag: `"${error.etag}"` };
    return of('preconditionFailed', error, {}, headers);
  }
  if (error instanceof InUseError) {
    const { dependents, total } = error;
    return of('inUse', error, { dependents, total });
  }
  if (error instanceof IncompatibleChangeError)
    return of('incompatibleChange', error, { report: error.report });
  if (error instanceof ReadOnlyContextError || error instanceof BundledContextError)
    return of('readOnly', error, {}, READ_METHODS);
  if (error instanceof DependencyChangedError || error instanceof OvertakenError)
    return of('dependencyChanged', error);
  if (error instanceof NameError || error instanceof ContextBaseError)
    return of('bodyInvalid', error, { errors: error.errors });
  if (error instanceof UnstorableTextError) return ofText(error);
  if (error instanceof ReferenceUriError) return of('invalidRequest', error, { parameter: 'uri' });
  if (error instanceof SchemaNotAcceptedError) return ofSchema(error);
  if (error instanceof ContextInvalidError) return of('contextInvalid', error, { errors: error.errors });
  if (error instanceof UnreadableBodyError) {
    const { name, detail, members } = unreadableBody(error.unreadable);
    return answer({ ...problemKinds[name], detail, ...members });
  }
  if (error instanceof WorkbenchRefusedError) return ofWork(error);
  if (error instanceof DeadlineExceededError) return of('deadlineExceeded', error);
  // What was too costly to accept is a refused schema. Of an accepted one, making something was too slow for once.
  if (error instanceof WorkersBusyError || error instanceof TaskTooCostlyError)
    return of('busy', error, {}, RETRY_AFTER);
  if (error instanceof StoreUnavailableError) return of('storeUnavailable', error, {}, RETRY_AFTER);
  return undefined;
}

function ofWork(error: WorkbenchRefusedError): ProblemAnswer {
  const { code, errors, url } = error;
  return of(WORK_REFUSALS[code], error, {
    ...(errors.length === 0 ? {} : { errors }),
    ...(url === undefined ? {} : { url }),
  });
}

function ofText(error: UnstorableTextError): ProblemAnswer {
  const { what, message } = error;
  const isMember = ['name', 'description', 'contextBase'].includes(what);
  return of('bodyInvalid', error, isMember ? { errors: [{ pointer: `/${what}`, detail: message }] } : {});
}

function ofSchema(error: SchemaNotAcceptedError): ProblemAnswer {
  const { code, errors, missingUris } = error;
  const missing = missingUris.length === 0 ? {} : { missing: missingUris };
  return of(SCHEMA_REFUSALS.get(code) ?? 'schemaInvalid', error, { errors, ...missing });
}

function of(
  name: ProblemName,
  error: Error,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): ProblemAnswer {
  return answer({ ...problemKinds[name], detail: error.message, ...members }, headers);
}
