import type { FastifyRequest } from 'fastify';
import type { PurgeOrder } from '../jobs/new-record.js';
import type { PurgeService } from '../jobs/purge-service.js';
import { forwardedHeaders } from '../purge/broker/index.js';
import { UnsupportedRequestError } from '../purge/index.js';
import { callerOf } from './caller.js';
import { refused } from './errors.js';
import { parsePurgePolicy, POLICY_HEADER } from './purge-policy.js';
import { REQUEST_ID_HEADER } from './request-id.js';

export interface OrderOptions {
  /** Whether there is a token, so that a request that passes the check is vouched for. */
  readonly hasToken: boolean;
}

/** What a request says of its purge. */
export interface AskedPurge extends Pick<PurgeOrder, 'target' | 'query'> {
  /** Headers that its body gives, in lower case. */
  readonly bodyHeaders?: Readonly<Record<string, string>>;
}

/** Headers that say the same as one of a body, beside that header itself. */
const RIVALS: Readonly<Record<string, readonly string[]>> = { 'ngsild-tenant': ['fiware-service'] };

/** Headers that would move the purge to other data than the live one; refused until they are honoured. */
const UNSUPPORTED_HEADERS = ['ngsild-snapshot', 'ngsild-entitymap'] as const;

/**
 * A purge as a request asks for it. What is refused is recorded.
 *
 * @param check what is to be found out first; what it throws is a refusal as well
 * @throws PurgeFailedError with what `orderOf` and the check throw
 */
export function recordedOrderOf(
  request: FastifyRequest,
  what: AskedPurge,
  options: OrderOptions & { readonly purges: Pick<PurgeService, 'refusal'> },
  check: () => void = () => {},
): PurgeOrder {
  try {
    check();
    return orderOf(request, what, options);
  } catch (error) {
    throw options.purges.refusal({ ...askedBy(request, what, options), policy: {} }, error);
  }
}

/**
 * A purge as a request asks for it.
 *
 * @throws RequestRefusedError for a policy that is not understood, and for headers that the body gives as well;
 *   UnsupportedRequestError for headers that would move the purge to other data
 */
export function orderOf(request: FastifyRequest, what: AskedPurge, options: OrderOptions): PurgeOrder {
  const { headers } = request;
  const policy = parsePurgePolicy(headers[POLICY_HEADER]);
  for (const name of UNSUPPORTED_HEADERS) {
    if (headers[name] !== undefined) {
      throw new UnsupportedRequestError(
        `The header ${name} is not supported by purges: without it, live data would go.`,
      );
    }
  }
  for (const name of Object.keys(what.bodyHeaders ?? {})) {
    const rival = [name, ...(RIVALS[name] ?? [])].find((header) => headers[header] !== undefined);
    if (rival === undefined) continue;
    throw refused('invalidRequest', `The body and the header ${rival} name different things; leave one out.`);
  }
  return { ...askedBy(request, what, options), policy };
}

function askedBy(
  { headers, id }: FastifyRequest,
  { target, query, bodyHeaders }: AskedPurge,
  { hasToken }: OrderOptions,
): Omit<PurgeOrder, 'policy'> {
  return {
    target,
    query,
    headers: { ...bodyHeaders, ...forwardedHeaders(headers), [REQUEST_ID_HEADER]: id },
    caller: callerOf(headers, hasToken),
    requestId: id,
  };
}
