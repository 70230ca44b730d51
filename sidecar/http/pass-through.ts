import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { MIN_BYTES_PER_SECOND } from './client-pace.js';
import { ForwardExchange, type ForwardFailure, type PassThroughEnd } from './forward-exchange.js';
import { answerProblem, FAILURE_PROBLEMS } from './forward-problem.js';
import { createForwardedHeaders } from './forward-headers.js';
import { type ForwardedParts, headersFor } from './forwarded-parts.js';
import { Places } from './places.js';
import { originForm } from '../ngsi-ld/request-path.js';

export interface PassThroughOptions {
  /** Pool or Agent, which the caller owns and closes. It must not decompress, cache, redirect or retry. */
  readonly dispatcher: Dispatcher;
  /** Base URL of the broker; a path in it is put before every forwarded path. */
  readonly brokerUrl: URL;
  /** This gateway's own name in `Via`. */
  readonly viaName: string;
  /** Lower-case names of request headers that are for this service alone, e.g. `x-gateway-token`. */
  readonly strippedHeaders: readonly string[];
  /**
   * Longest wait for the head of the broker's answer once the request is sent, and for more of the answer's body, in ms.
   */
  readonly brokerTimeoutMs: number;
  /** How many requests the broker gets at a time, by kind, and how long the others wait for their place. */
  readonly places?: Partial<PassThroughPlaces>;
  /** Called once for each request when it is over, however it ended. Must not throw. */
  readonly onEnded?: ((end: PassThroughEnd) => void) | undefined;
  /** Called once for each request that could not be forwarded, or whose answer broke off. Must not throw. */
  readonly onError?: (error: unknown, failure: ForwardFailure) => void;
}

interface PassThroughPlaces {
  /** Requests without a body, or whose body arrived with the head. @default 256 */
  readonly whole: number;
  /** Requests whose bodies are still arriving, at their clients' pace. @default 128 */
  readonly uploads: number;
  /** How long a request waits for a place, in ms. @default 10000 */
  readonly waitMs: number;
  /** How long an idle client keeps a place that others wait for, in ms. @default 4000 */
  readonly idleMs: number;
  /** What an upload has to bring on average, or it counts as idle. @default 1000 */
  readonly bytesPerSecond: number;
}

/**
 * Forwards one request and answers it; never throws. The response's `close` event says that it is over, however it ended.
 * `awaitsContinue` says that the client sent `Expect: 100-continue` and nothing has answered that yet.
 */
export type PassThrough = (req: IncomingMessage, res: ServerResponse, how?: ForwardingManner) => void;

export interface ForwardingManner extends ForwardedParts {
  readonly awaitsContinue?: boolean;
}

export type { ForwardFailure, PassThroughEnd };

const PLACES: PassThroughPlaces = {
  whole: 256,
  uploads: 128,
  waitMs: 10_000,
  idleMs: 4000,
  bytesPerSecond: MIN_BYTES_PER_SECOND,
};

/**
 * A streaming reverse proxy in front of one broker. Method, path, query, headers and body reach the broker as they
 * came, and its answer the client, but for what createForwardedHeaders lists and for what concerns one connection
 * only: framing, keep-alive, `Expect`, trailers and informational (1xx) answers end here, `Upgrade` is ignored.
 * Bodies of any size and coding pass with backpressure and are never decoded.
 *
 * An answer that breaks off breaks the client's connection too: no cut-off body ever looks complete. Otherwise failures
 * are problem+json: 502 out of reach or not HTTP, 504 too slow, 503 shutting down or no place in time, 408 a body that
 * stands still, 400 what HTTP/1.1 cannot carry. What servers read in different ways must have been refused before: see
 * request-checks.ts.
 *
 * @throws TypeError when the broker's URL cannot be a base
 */
export function createPassThrough(options: PassThroughOptions): PassThrough {
  const base = brokerBase(options.brokerUrl);
  const forwardedHeaders = createForwardedHeaders(options.strippedHeaders, options.viaName);
  const { brokerTimeoutMs: brokerTimeout } = options;
  const { whole, uploads, bytesPerSecond, ...times } = { ...PLACES, ...options.places };
  const exchangeOptions = {
    dispatcher: options.dispatcher,
    onError: options.onError,
    onEnded: options.onEnded,
    bytesPerSecond,
    // Apart, because clients decide how long their uploads take.
    wholePlaces: new Places({ max: whole, ...times }),
    uploadPlaces: new Places({ max: uploads, ...times }),
  };

  return (req, res, { awaitsContinue = false, ...parts } = {}) => {
    if (res.closed) return;
    const path = brokerTarget(base, req.url ?? '');
    if (path === undefined) {
      const problem = FAILURE_PROBLEMS['unacceptable-request'];
      answerProblem(req, res, problem, awaitsContinue);
      options.onEnded?.({ method: req.method ?? '', status: problem.status, ms: 0 });
    } else {
      const headers = headersFor(forwardedHeaders(req), parts);
      const outbound = { origin: base.origin, path, headers, brokerTimeout };
      new ForwardExchange(req, res, exchangeOptions, outbound, parts).start(awaitsContinue);
    }
  };
}

/** Where requests are forwarded to. */
interface BrokerBase {
  /** Scheme and authority, e.g. `http://orion:1026`. */
  readonly origin: string;
  /** Path prefix without a trailing slash; empty when there is none. */
  readonly prefix: string;
}

/**
 * Takes a broker's base URL apart.
 * @throws TypeError when it is not http(s) or has credentials, a query or a fragment, which could not be honoured
 */
function brokerBase(url: URL): BrokerBase {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`The broker's URL must be http or https, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError("The broker's URL must not have credentials, a query or a fragment.");
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/**
 * The request-target for the broker: its prefix, then path and query of the request byte for byte. A target in absolute
 * form loses scheme and authority, as a server must ignore them in favour of its own (RFC 9112 § 3.2.2).
 *
 * @returns undefined when the target cannot be sent on: another form, or a character that no request line may hold
 */
export function brokerTarget(base: BrokerBase, rawUrl: string): string | undefined {
  const target = originForm(rawUrl);
  return /^\/[\x21-\x7e\x80-\xff]*$/.test(target) ? base.prefix + target : undefined;
}
