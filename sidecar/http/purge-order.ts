import type { FastifyRequest } from 'fastify';
import type { PurgeOrder } from '../jobs/new-record.js';
import type { PurgeService } from '../jobs/purge-service.js';
import { forwardedHeaders } from '../purge/broker/forwarded-headers.js';
import { UnsupportedRequestError } from '../purge/errors.js';
import { callerOf } from './caller.js';
import { parsePurgePolicy, POLICY_HEADER } from './purge-policy.js';
import { REQUEST_ID_HEADER } from './request-id.js';

export interface OrderOptions {
  /** Whether there is a token, so that a request that passes the check is vouched for. */
  readonly hasToken: boolean;
}

/** Headers that would move the purge to other data than the live one; refused until they are honoured. */
const UNSUPPORTED_HEADERS = ['ngsild-snapshot', 'ngsild-entitymap'] as const;

/**
 * A purge as a request asks for it. What is refused is recorded.
 *
 * @throws PurgeFailedError with what `orderOf` throws
 */
export function recordedOrderOf(
  request: FastifyRequest,
  what: Pick<PurgeOrder, 'target' | 'query'>,
  { purges, ...options }: OrderOptions & { readonly purges: Pick<PurgeService, 'refusal'> },
): PurgeOrder {
  try {
    return orderOf(request, what, options);
  } catch (error) {
    throw purges.refusal({ ...what, ...askedBy(request, options), policy: {} }, error);
  }
}

/**
 * A purge as a request asks for it.
 *
 * @throws RequestRefusedError for a policy that is not understood, UnsupportedRequestError for headers that would move the
 *   purge to other data
 */
export function orderOf(
  request: FastifyRequest,
  what: Pick<PurgeOrder, 'target' | 'query'>,
  options: OrderOptions,
): PurgeOrder {
  const { headers } = request;
  const policy = parsePurgePolicy(headers[POLICY_HEADER]);
  for (const name of UNSUPPORTED_HEADERS) {
    if (headers[name] !== undefined) {
      throw new UnsupportedRequestError(
        `The header ${name} is not supported by purges: without it, live data would go.`,
      );
    }
  }
  return { ...what, ...askedBy(request, options), policy };
}

function askedBy(
  { headers, id }: FastifyRequest,
  { hasToken }: OrderOptions,
): Pick<PurgeOrder, 'headers' | 'caller' | 'requestId'> {
  return {
    headers: { ...forwardedHeaders(headers), [REQUEST_ID_HEADER]: id },
    caller: callerOf(headers, hasToken),
    requestId: id,
  };
}
