import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { ForwardExchange } from './forward-exchange.js';
import type { ForwardFailure } from './forward-exchange.js';
import { answerProblem, FAILURE_PROBLEMS } from './forward-problem.js';
import type { ProblemDraft } from './forward-problem.js';
import { createForwardedHeaders } from './forward-headers.js';
import { brokerBase, brokerTarget } from './forward-target.js';
import { isPlainlyFramed, valuesOf } from './hop-by-hop.js';
import { ownType } from '../ngsi-ld/problem.js';

export interface PassThroughOptions {
  /** Pool or Agent; owned, and closed, by the caller. It must not decompress, cache, redirect or retry. */
  readonly dispatcher: Dispatcher;
  /** Base URL of the broker; a path in it is put before every forwarded path. */
  readonly brokerUrl: URL;
  /** This gateway's own name in `Via`. */
  readonly viaName: string;
  /** Request headers that are for this service alone, e.g. `x-gateway-token`. */
  readonly strippedHeaders?: readonly string[];
  /** Longest wait for the head of the broker's answer once the request is sent, in ms. @default 30000 */
  readonly headersTimeoutMs?: number;
  /** Told once of each request that could not be forwarded, or whose answer broke off. Must not throw. */
  readonly onError?: (error: unknown, failure: ForwardFailure) => void;
}

/**
 * Forwards one request and answers it; never throws. The response's `close` tells that it is over, however it ended.
 * `awaitsContinue` says that the client sent `Expect: 100-continue` and nothing has answered that yet.
 */
export type PassThrough = (
  req: IncomingMessage,
  res: ServerResponse,
  how?: { readonly awaitsContinue?: boolean },
) => void;

export type { ForwardFailure };

const HEADERS_TIMEOUT_DEFAULT_MS = 30_000;

const REPEATED_HOST: ProblemDraft = {
  ...FAILURE_PROBLEMS['unacceptable-request'],
  detail: 'The request has more than one Host header (RFC 9112, section 3.2).',
};

const UNKNOWN_CODING: ProblemDraft = {
  type: ownType('transfer-coding-not-supported'),
  title: 'Transfer coding not supported',
  status: 501,
  detail: 'The only transfer coding accepted here is chunked (RFC 9112, section 6.1).',
};

/**
 * A streaming reverse proxy in front of one broker. Method, path, query, headers and body reach the broker as they
 * came, and its answer the client, but for what createForwardedHeaders lists and for what concerns one connection
 * only: framing, keep-alive, `Expect`, trailers and informational (1xx) answers end here, `Upgrade` is ignored.
 * Bodies of any size and coding pass with backpressure and are never decoded.
 *
 * An answer that breaks off breaks the client's connection too: no cut-off body ever looks complete. Otherwise failures
 * are problem+json: 502 out of reach or not HTTP, 504 too slow, 503 shutting down, 400 or 501 what HTTP/1.1 cannot carry.
 *
 * @throws TypeError when the broker's URL cannot be a base
 */
export function createPassThrough(options: PassThroughOptions): PassThrough {
  const base = brokerBase(options.brokerUrl);
  const forwardedHeaders = createForwardedHeaders(
    (options.strippedHeaders ?? []).map((name) => name.toLowerCase()),
    options.viaName,
  );
  const headersTimeout = options.headersTimeoutMs ?? HEADERS_TIMEOUT_DEFAULT_MS;

  return (req, res, { awaitsContinue = false } = {}) => {
    if (res.closed) return;
    const path = brokerTarget(base, req.url ?? '');
    const refusal = refusalOf(req);
    if (path === undefined || refusal !== undefined) {
      answerProblem(req, res, refusal ?? FAILURE_PROBLEMS['unacceptable-request'], awaitsContinue);
    } else {
      const exchange = new ForwardExchange(req, res, { awaitsContinue, onError: options.onError });
      const headers = forwardedHeaders(req);
      exchange.start(options.dispatcher, { origin: base.origin, path, headers, headersTimeout });
    }
  };
}

/** What makes a parsed request unfit for forwarding: forms that servers disagree on. */
function refusalOf(req: IncomingMessage): ProblemDraft | undefined {
  if (valuesOf(req.rawHeaders, 'host').length > 1) return REPEATED_HOST;
  return isPlainlyFramed(req.headers['transfer-encoding']) ? undefined : UNKNOWN_CODING;
}
