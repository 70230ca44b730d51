import type { Problem } from '../ngsi-ld/problem.js';
import type { BrokerProblem } from '../purge/broker/index.js';
import type {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
  QueryRefusedError,
  TooManyMatchesError,
  UnexpectedEntityError,
} from '../purge/index.js';
import type { ContextInvalidError } from '../schemas/json-ld/errors.js';
import type {
  BrokenFollowersError,
  ContextBaseError,
  IncompatibleChangeError,
  NameError,
  SchemaMissingError,
  SchemaNotAcceptedError,
  SunsetError,
} from '../schemas/models/errors.js';
import type {
  InUseError,
  PreconditionFailedError,
  RunUnderWayError,
  UnstorableTextError,
} from '../store/errors.js';
import type { UnreadableBodyError, WorkbenchRefusedError } from '../schemas/models/workbench-errors.js';
import { ConfigError } from '../shared/config/load.js';
import { GatewayError } from '../shared/errors.js';
import { RequestRefusedError } from './errors.js';
import { problem, type ProblemName } from './problem-kinds.js';

/** A problem and the headers that belong to it. */
export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Headers;
}

type Headers = Readonly<Record<string, string>>;
type Members = Readonly<Record<string, unknown>>;

/** Answers an error that has a certain code. */
type Answer = (error: never) => ProblemAnswer;

/** Headers of answers to requests that may work a little later. */
const SOON = { 'retry-after': '1' };
const LATER = { 'retry-after': '5' };

/** The methods that a read-only context still answers. */
const READ_METHODS = { allow: 'GET, HEAD, OPTIONS' };

/** Seconds after which to try again when the broker throttles and does not say. */
const THROTTLED_RETRY_AFTER_S = '10';

/**
 * The problem of every error that can reach a client, by the error's `code`. An error whose code is missing here is
 * answered 500.
 */
const answers: Readonly<Record<string, Answer>> = {
  // Purges
  PURGE_QUERY_REFUSED: (error: QueryRefusedError) =>
    answer(error.kind, error, error.parameter === undefined ? {} : { parameter: error.parameter }),
  PURGE_UNSUPPORTED: as('notSupported'),
  PURGE_FORBIDDEN_BY_POLICY: as('forbiddenByPolicy'),
  PURGE_FILTER_IGNORED: as('filterIgnored', ({ parameter }: FilterIgnoredError) => ({ parameter })),
  PURGE_UNEXPECTED_ENTITY: as('unexpectedEntity', ({ entityId, parameter }: UnexpectedEntityError) => ({
    entityId,
    parameter,
  })),
  PURGE_TOO_MANY_MATCHES: as('tooManyMatches', ({ matched, maxAffected }: TooManyMatchesError) => ({
    matched,
    maxAffected,
  })),
  PURGE_UNCOUNTABLE: as('uncountableMatches'),
  PURGE_NOT_CONVERGING: as('notConverging'),
  PURGE_STOPPED: as('shuttingDown', noMembers, LATER),
  PURGE_CANCELLED: as('purgeCancelled'),
  PURGE_TOO_MANY_RUNNING: as('tooManyPurges', noMembers, LATER),
  PURGE_QUEUE_FULL: as('tooManyPurges', noMembers, LATER),
  PURGE_NOT_FOUND: as('notFound'),
  PURGE_IDS_NOT_FOUND: as('notFound'),
  PURGE_OVER: as('purgeOver'),
  RETENTION_RUN_UNDER_WAY: as('runUnderWay', ({ purge }: RunUnderWayError) => ({ purge })),
  JOB_SECRET_MISSING: as('jobSecretMissing'),
  BROKER_REFUSED: refusedByBroker,
  BROKER_FAILED: failedBroker,
  BROKER_REPLY_UNUSABLE: as('brokerReplyUnusable'),

  // Models, contexts and references
  STORE_NOT_FOUND: as('notFound'),
  FILE_NOT_FOUND: as('notFound'),
  STORE_ALREADY_EXISTS: as('alreadyExists'),
  STORE_PRECONDITION_FAILED: (error: PreconditionFailedError) =>
    answer('preconditionFailed', error, {}, error.etag === undefined ? {} : { etag: `"${error.etag}"` }),
  STORE_IN_USE: as('inUse', ({ dependents, total }: InUseError) => ({ dependents, total })),
  CONTEXT_FOLLOWERS_BROKEN: as('inUse', ({ dependents }: BrokenFollowersError) => ({
    dependents,
    total: dependents.length,
  })),
  STORE_DEPENDENCY_CHANGED: as('dependencyChanged'),
  OVERTAKEN: as('dependencyChanged'),
  CHANGE_INCOMPATIBLE: as('incompatibleChange', ({ report, direction }: IncompatibleChangeError) => ({
    report,
    direction,
  })),
  STORE_CONTEXT_READ_ONLY: as('readOnly', noMembers, READ_METHODS),
  CONTEXT_BUNDLED: as('readOnly', noMembers, READ_METHODS),
  NAME_INVALID: as('bodyInvalid', ({ errors }: NameError) => ({ errors })),
  CONTEXT_BASE_INVALID: as('bodyInvalid', ({ errors }: ContextBaseError) => ({ errors })),
  SCHEMA_MISSING: as('bodyInvalid', ({ errors }: SchemaMissingError) => ({ errors })),
  SUNSET_INVALID: as('bodyInvalid', ({ errors }: SunsetError) => ({ errors })),
  MODEL_PUBLISHED: as('modelPublished'),
  STORE_TEXT_UNSTORABLE: as('bodyInvalid', unstorableText),
  REFERENCE_URI_INVALID: as('invalidRequest', () => ({ parameter: 'uri' })),
  CONTEXT_INVALID: as('contextInvalid', ({ errors }: ContextInvalidError) => ({ errors })),
  STORE_UNAVAILABLE: as('storeUnavailable', noMembers, SOON),

  // Schemas that are refused
  SCHEMA_INVALID: as('schemaInvalid', schemaFaults),
  SCHEMA_DIALECT_UNSUPPORTED: as('schemaDialectUnsupported', schemaFaults),
  SCHEMA_LIMIT_EXCEEDED: as('schemaTooLarge', schemaFaults),
  SCHEMA_REFERENCE_DANGLING: as('schemaReferenceDangling', schemaFaults),
  SCHEMA_NOT_CONVERTIBLE: as('schemaNotConvertible', schemaFaults),
  SCHEMA_TOO_COSTLY: as('schemaTooCostly', schemaFaults),

  // Imports
  ARCHIVE_UNREADABLE: as('invalidRequest'),
  REPOSITORY_TOO_LARGE: as('bodyTooLarge'),
  REPOSITORY_UNCLEAR: as('invalidRequest', () => ({ parameter: 'domain' })),
  IMPORT_RUNNING: as('busy', noMembers, LATER),

  // The workbench
  BODY_UNREADABLE: unreadableBody,
  BODY_INVALID: as('bodyInvalid', workFaults),
  SAMPLES_INVALID: as('bodyInvalid', workFaults),
  SAMPLES_TOO_RICH: as('limitExceeded', workFaults),
  LIMIT_EXCEEDED: as('limitExceeded', workFaults),
  TYPE_UNKNOWN: as('notFound', workFaults),
  TYPE_AMBIGUOUS: as('typeAmbiguous', workFaults),
  JSON_LD_INVALID: as('jsonLdInvalid', workFaults),
  DATA_DROPPED: as('dataDropped', workFaults),
  CONTEXT_UNUSABLE: as('contextInvalid', workFaults),
  CONTEXT_REFUSED: as('contextRefused', workFaults),
  CONTEXT_FETCH_FAILED: as('contextUnavailable', workFaults),
  WORK_DEADLINE_EXCEEDED: as('deadlineExceeded'),
  // A schema that is too costly to accept is refused. With an accepted one, the work was only too slow this time.
  WORKER_TASK_TOO_COSTLY: as('busy', noMembers, SOON),
  WORKERS_BUSY: as('busy', noMembers, SOON),
};

/** The problem of an error. @returns undefined for unexpected errors, which are logged and answered a bare 500 */
export function problemOf(error: unknown): ProblemAnswer | undefined {
  if (error instanceof RequestRefusedError) return { problem: error.problem, headers: error.headers };
  return error instanceof GatewayError && hasProblem(error.code)
    ? answers[error.code]?.(error as never)
    : undefined;
}

/** Whether errors with this code have a problem of their own. */
export function hasProblem(code: string): boolean {
  return Object.hasOwn(answers, code);
}

/** The answer to an unexpected error: it reveals nothing of the cause. */
export function unforeseen(): Problem {
  return problem('internalError', 'The gateway failed; its log has the cause.');
}

/** Lines for a person at the terminal about an error that stops the start. */
export function startErrorLines(error: unknown): readonly string[] {
  if (error instanceof ConfigError) {
    return [
      error.message,
      ...error.mistakes.map((mistake) => `  - ${mistake}`),
      'docs/config.md lists all settings.',
    ];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [listenMistake(error) ?? `${databaseSetting(error)}${message}`];
}

/** The setting that is at fault when a store cannot be opened; these errors begin with its path or URL. */
function databaseSetting(error: unknown): string {
  if (!(error instanceof GatewayError) || !error.code.startsWith('DATABASE_')) return '';
  return error.message.startsWith('postgres://') ? 'DATABASE_URL: ' : 'DATABASE_PATH: ';
}

/** What a person can do about an address that cannot be listened on. */
function listenMistake(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') return undefined;
  const host = 'address' in error ? error.address : 'hostname' in error ? error.hostname : '';
  const at = `${String(host)}${'port' in error ? ` port ${String(error.port)}` : ''}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `Cannot listen on ${at}: the port is in use. Stop what uses it, or choose another PORT (0 picks a free one).`;
    case 'EACCES':
      return `Cannot listen on ${at}: this user may not. Choose a PORT of 1024 or above.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `Cannot listen on ${at}: HOST is not an address of this machine.`;
    default:
      return undefined;
  }
}

/** Answers with the error's message as the detail. */
function as<Known>(
  name: ProblemName,
  membersOf: (error: Known) => Members = noMembers,
  headers: Headers = {},
): (error: Known & Error) => ProblemAnswer {
  return (error) => answer(name, error, membersOf(error), headers);
}

function answer(
  name: ProblemName,
  { message }: Error,
  members: Members = {},
  headers: Headers = {},
): ProblemAnswer {
  return { problem: problem(name, message, members), headers };
}

function noMembers(): Members {
  return {};
}

function unstorableText({ what, message }: UnstorableTextError): Members {
  const isMember = ['name', 'description', 'contextBase'].includes(what);
  return isMember ? { errors: [{ pointer: `/${what}`, detail: message }] } : {};
}

function schemaFaults({ errors, missingUris = [] }: Partial<SchemaNotAcceptedError>): Members {
  return { errors, ...(missingUris.length === 0 ? {} : { missing: missingUris }) };
}

function workFaults({ errors = [], url }: Partial<WorkbenchRefusedError>): Members {
  return { ...(errors.length === 0 ? {} : { errors }), ...(url === undefined ? {} : { url }) };
}

/** Text that is not JSON is a bad request; JSON that is nested too deeply is understood, and refused. */
function unreadableBody({ unreadable }: UnreadableBodyError): ProblemAnswer {
  const { line, column, detail, isTooDeep } = unreadable;
  const name = isTooDeep ? 'limitExceeded' : 'invalidRequest';
  const message = `The body cannot be read as JSON: line ${line}, column ${column}: ${detail}.`;
  return { problem: problem(name, message, { line, column }), headers: {} };
}

/** Passes on the status that the broker gave, with its problem inside ours. */
function refusedByBroker({
  operation,
  problem: said,
  wwwAuthenticate,
  message,
}: BrokerRefusedError): ProblemAnswer {
  const isUsable = (said.status >= 400 && said.status < 500) || said.status === 501;
  const hasType = isUsable && said.type !== undefined && /^https?:\S+$/.test(said.type);
  const detail = said.detail === undefined ? message : `${message} It says: ${said.detail}`;
  return {
    problem: {
      ...problem('brokerRefused', detail, { broker: brokerMember(said) }),
      title: said.title ?? `The broker refused to ${operation}`,
      ...(hasType ? { type: said.type } : {}),
      ...(isUsable ? { status: said.status } : {}),
    },
    headers: wwwAuthenticate === undefined ? {} : { 'www-authenticate': wwwAuthenticate },
  };
}

function failedBroker(error: BrokerFailedError): ProblemAnswer {
  const { kind, retryAfter, problem: said } = error.failure;
  const headers: Headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  const inside = said === undefined ? {} : { broker: brokerMember(said) };
  switch (kind) {
    case 'throttled':
      return answer('brokerThrottled', error, inside, { 'retry-after': THROTTLED_RETRY_AFTER_S, ...headers });
    case 'timeout':
      return answer('brokerTimeout', error);
    case 'unreachable':
      return answer('brokerUnreachable', error);
    case 'context-unavailable':
      return answer('brokerContextUnavailable', error, inside, headers);
    case 'broker-error':
    case 'failed-query':
    case 'withheld':
      return answer('brokerFailed', error, inside, headers);
  }
}

function brokerMember({ status, type, title, detail }: BrokerProblem): Partial<BrokerProblem> {
  return {
    status,
    ...(type === undefined ? {} : { type }),
    ...(title === undefined ? {} : { title }),
    ...(detail === undefined ? {} : { detail }),
  };
}
