import type { FastifyRequest } from 'fastify';
import type { NewJob, NewPurge, PurgePolicy } from '../jobs/purge-kinds.js';
import type { PurgeService } from '../jobs/purge-service.js';
import { AccessRefusedError, requireTenants, tenantsOf } from '../auth/index.js';
import { UnsupportedRequestError } from '../purge/index.js';
import type { GatewayError } from '../shared/errors.js';
import type { ArchiveMode } from '../shared/purge-options.js';
import { refused, RequestRefusedError } from './refused.js';
import { REQUEST_ID_HEADER } from './request-log.js';

/** The part of a purge that is specific to the request. */
export interface RequestedPurge extends Pick<NewPurge, 'target' | 'query'> {
  /** Headers given in the body, in lower case. */
  readonly bodyHeaders?: Readonly<Record<string, string>>;
}

/** Headers that conflict with one given in the body, in addition to the header of the same name. */
const CONFLICTING_HEADERS: Readonly<Record<string, readonly string[]>> = {
  'ngsild-tenant': ['fiware-service'],
};

/**
 * Headers that would direct the purge to data other than the live data; they are refused because they are not
 * supported.
 */
const UNSUPPORTED_HEADERS = ['ngsild-snapshot', 'ngsild-entitymap'] as const;

/**
 * Reads a purge from a request. A refusal is recorded.
 *
 * @param fault an error for which the request is refused in any case
 * @throws PurgeFailedError with the fault, or with what `readJobOrigin` throws
 */
export function readNewPurge(
  request: FastifyRequest,
  requested: RequestedPurge,
  purges: Pick<PurgeService, 'refusal'>,
  fault?: GatewayError,
): NewPurge {
  const { target, query, bodyHeaders = {} } = requested;
  try {
    if (fault !== undefined) throw fault;
    const origin = readJobOrigin(request, bodyHeaders);
    requireTenants(request.caller, tenantsOf(origin.headers), 'The purge');
    return { target, query, ...origin };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const unchecked = { target, query, ...originOf(request, bodyHeaders), policy: {} };
    throw purges.refusal(unchecked, error);
  }
}

function isRefusal(error: unknown): error is GatewayError {
  return (
    error instanceof RequestRefusedError ||
    error instanceof UnsupportedRequestError ||
    error instanceof AccessRefusedError
  );
}

/**
 * Reads who sent a request, with the headers and the policy of a job.
 *
 * @param bodyHeaders headers given in the body, in lower case
 * @throws RequestRefusedError for an invalid policy, and for headers that the body gives as well;
 * UnsupportedRequestError for headers that would direct the purge to other data
 */
export function readJobOrigin(
  request: FastifyRequest,
  bodyHeaders: Readonly<Record<string, string>> = {},
): NewJob {
  const { headers } = request;
  const policy = parsePurgePolicy(headers[POLICY_HEADER]);
  for (const name of UNSUPPORTED_HEADERS) {
    if (headers[name] !== undefined) {
      throw new UnsupportedRequestError(
        `Purges do not support the header ${name}: if it were ignored, live data would be deleted.`,
      );
    }
  }
  for (const name of Object.keys(bodyHeaders)) {
    const rival = [name, ...(CONFLICTING_HEADERS[name] ?? [])].find(
      (header) => headers[header] !== undefined,
    );
    if (rival === undefined) continue;
    throw refused('invalidRequest', `The body and the header ${rival} set the same thing; leave one out.`);
  }
  return { ...originOf(request, bodyHeaders), policy };
}

/**
 * Refuses a request with headers that would select data, if something else does: they must not be ignored.
 *
 * @param reason what selects the data
 * @throws RequestRefusedError
 */
export function refuseHeaders(
  { headers }: Pick<FastifyRequest, 'headers'>,
  names: readonly string[],
  reason: string,
): void {
  const given = names.find((name) => headers[name] !== undefined);
  if (given !== undefined) throw refused('invalidRequest', `${reason}: leave the header ${given} out.`);
}

function originOf(
  { headers, id, caller }: FastifyRequest,
  bodyHeaders: Readonly<Record<string, string>>,
): Omit<NewJob, 'policy'> {
  const { authorization, ...others } = forwardedHeaders(headers);
  return {
    headers: {
      ...bodyHeaders,
      ...others,
      ...(authorization !== undefined && caller.forwardsAuthorization ? { authorization } : {}),
      [REQUEST_ID_HEADER]: id,
    },
    caller: caller.name,
    client: caller.client,
    requestId: id,
  };
}

/**
 * Headers of a purge request that are sent to the broker with each of its requests: @context (clause 6.3.5), tenant
 * (6.3.14), loop prevention (6.3.18), credentials and tracing.
 */
const FORWARDED_HEADERS = [
  'link',
  'ngsild-tenant',
  'fiware-service',
  'fiware-servicepath',
  'authorization',
  'x-auth-token',
  'via',
  'traceparent',
  'tracestate',
  'x-request-id',
] as const;

/** Returns the forwarded headers of a request; names are lower-case on both sides. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of FORWARDED_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') picked[name] = value;
    else if (value !== undefined) picked[name] = value.join(', ');
  }
  return picked;
}

/** Header in which the Kong plugin sends its policy, which can only narrow what the configuration allows. */
export const POLICY_HEADER = 'x-purge-policy';

const INTEGERS = {
  'max-affected': 'maxAffected',
  'page-size': 'pageSize',
  'batch-size': 'batchSize',
  concurrency: 'concurrency',
  'temporal-concurrency': 'temporalConcurrency',
} as const;
/** The minimum that a purge must archive. */
const ARCHIVE_MODES = /^(?:none|best-effort|required)$/;
const BOOLEANS = { 'dry-run-only': 'dryRunOnly', 'allow-temporal': 'allowTemporal' } as const;

type IntegerKey = (typeof INTEGERS)[keyof typeof INTEGERS];
type BooleanKey = (typeof BOOLEANS)[keyof typeof BOOLEANS];

/**
 * Parses a policy: a dictionary of integers, booleans and tokens (RFC 9651 § 3.2), e.g.
 * `max-affected=100, archive=required`.
 *
 * @throws RequestRefusedError (400) for anything else: a limit that is not understood could not be enforced
 */
export function parsePurgePolicy(header: string | readonly string[] | undefined): PurgePolicy {
  if (header === undefined) return {};
  const text = typeof header === 'string' ? header : header.join(', ');
  const policy: Partial<Record<IntegerKey, number> & Record<BooleanKey, boolean>> & {
    archive?: ArchiveMode;
  } = {};
  for (const member of text.split(',')) {
    const [name = '', value = '', ...rest] = member.trim().split('=');
    if (rest.length === 0 && Object.hasOwn(INTEGERS, name) && /^\d{1,15}$/.test(value) && Number(value) > 0) {
      policy[INTEGERS[name as keyof typeof INTEGERS]] = Number(value);
    } else if (rest.length === 0 && Object.hasOwn(BOOLEANS, name) && /^(?:\?[01])?$/.test(value)) {
      // A member without a value is true.
      policy[BOOLEANS[name as keyof typeof BOOLEANS]] = value !== '?0';
    } else if (rest.length === 0 && name === 'archive' && ARCHIVE_MODES.test(value)) {
      policy.archive = value as ArchiveMode;
    } else {
      const detail = `The header X-Purge-Policy has a member that is not understood: "${member.trim().slice(0, 60)}".`;
      throw refused('invalidRequest', detail);
    }
  }
  return policy;
}
