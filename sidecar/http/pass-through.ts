import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Dispatcher, interceptors } from 'undici';
import { MIN_BYTES_PER_SECOND } from './min-data-rate.js';
import { ForwardExchange, type ForwardFailure, type PassThroughResult } from './forward-exchange.js';
import { answerProblem, FAILURE_PROBLEMS } from './forward-problem.js';
import { createForwardedHeaders } from './forward-headers.js';
import { type ForwardOverrides, headersFor } from './forward-overrides.js';
import { Slots } from './slots.js';
import { originForm } from '../ngsi-ld/request-path.js';

/** The broker, the connections to it, and the limits on requests that are forwarded. */
export interface PassThroughOptions {
  /** Pool or Agent, which the caller owns and closes. It must not decompress, cache, redirect or retry. */
  readonly dispatcher: Dispatcher;
  /** Base URL of the broker. Its path, if any, is put before every forwarded path. */
  readonly brokerUrl: URL;
  /** This gateway's own name in `Via`. */
  readonly viaName: string;
  /** Lower-case names of request headers that are only for this service, e.g. `x-gateway-token`. */
  readonly strippedHeaders: readonly string[];
  /**
   * The longest wait for the head of the broker's answer after the request was sent, and for more of the answer's body,
   * in ms.
   */
  readonly brokerTimeoutMs: number;
  /** How many requests the broker gets at the same time, by kind, and how long the others wait for a slot. */
  readonly slots?: Partial<PassThroughSlots>;
  /** Called once for each request when it is over, however it ended. Must not throw. */
  readonly onEnded?: ((end: PassThroughResult) => void) | undefined;
  /** Called once for each request that could not be forwarded, or whose answer broke off. Must not throw. */
  readonly onError?: (error: unknown, failure: ForwardFailure) => void;
}

interface PassThroughSlots {
  /** Requests without a body, or whose body arrived with the head. @default 256 */
  readonly whole: number;
  /** Requests whose bodies are still arriving, as fast as their clients send. @default 128 */
  readonly uploads: number;
  /** How long a request waits for a slot, in ms. @default 10000 */
  readonly waitMs: number;
  /** How long an idle client keeps a slot that other requests wait for, in ms. @default 4000 */
  readonly idleMs: number;
  /** The average rate below which an upload counts as idle, in bytes per second. @default 1000 */
  readonly bytesPerSecond: number;
}

/**
 * Forwards one request and answers it; never throws. The response's `close` event marks its end, however it ended.
 * `awaitsContinue` means that the client sent `Expect: 100-continue` and has not been answered yet.
 */
export type PassThrough = (req: IncomingMessage, res: ServerResponse, how?: ForwardOptions) => void;

/** What is already known about a single request: parts that were read or replaced, and an open `Expect`. */
export interface ForwardOptions extends ForwardOverrides {
  readonly awaitsContinue?: boolean;
}

export type { ForwardFailure, PassThroughResult };

const DEFAULT_SLOTS: PassThroughSlots = {
  whole: 256,
  uploads: 128,
  waitMs: 10_000,
  idleMs: 4000,
  bytesPerSecond: MIN_BYTES_PER_SECOND,
};

/**
 * Creates a streaming reverse proxy in front of one broker. Method, path, query, headers and body are forwarded
 * unchanged, and so is the answer, with these exceptions: the changes listed at createForwardedHeaders, and whatever
 * concerns only one connection. Framing, keep-alive, `Expect`, trailers and informational (1xx) answers are handled
 * here, and `Upgrade` is ignored. Bodies of any size and coding pass with backpressure and are never decoded.
 *
 * If an answer breaks off, the client's connection is broken as well, so that a truncated body never looks complete.
 * Otherwise failures are answered with problem+json: 502 for a broker that is unreachable or does not follow HTTP, 504
 * for one that is too slow, 503 if the gateway is shutting down or no slot became free in time, 408 for a body that
 * makes no progress, 400 for what HTTP/1.1 cannot express. Requests that servers interpret in different ways must have
 * been refused before; see request-checks.ts.
 *
 * @throws TypeError if the broker's URL cannot be a base
 */
export function createPassThrough(options: PassThroughOptions): PassThrough {
  const base = brokerBase(options.brokerUrl);
  const forwardedHeaders = createForwardedHeaders(options.strippedHeaders, options.viaName);
  const { brokerTimeoutMs: brokerTimeout } = options;
  const { whole, uploads, bytesPerSecond, ...times } = { ...DEFAULT_SLOTS, ...options.slots };
  const exchangeOptions = {
    dispatcher: options.dispatcher,
    onError: options.onError,
    onEnded: options.onEnded,
    bytesPerSecond,
    // Separate, because clients determine how long their uploads take.
    wholeSlots: new Slots({ max: whole, ...times }),
    uploadSlots: new Slots({ max: uploads, ...times }),
  };

  return (req, res, { awaitsContinue = false, ...overrides } = {}) => {
    if (res.closed) return;
    const path = brokerTarget(base, req.url ?? '');
    if (path === undefined) {
      const problem = FAILURE_PROBLEMS['unacceptable-request'];
      answerProblem(req, res, problem, awaitsContinue);
      options.onEnded?.({ method: req.method ?? '', status: problem.status, ms: 0 });
    } else {
      const headers = headersFor(forwardedHeaders(req), overrides);
      const outbound = { origin: base.origin, path, headers, brokerTimeout };
      const how = overrides.replacement === undefined ? exchangeOptions : decoding(exchangeOptions);
      new ForwardExchange(req, res, how, outbound, overrides).start(awaitsContinue);
    }
  };
}

/** For an answer that is read here: some proxies compress it although they are asked not to. */
function decoding<Options extends { readonly dispatcher: Dispatcher }>(options: Options): Options {
  const decompress = interceptors.decompress({ skipErrorResponses: false });
  return { ...options, dispatcher: options.dispatcher.compose(decompress) };
}

/** The target of forwarded requests. */
interface BrokerBase {
  /** Scheme and authority, e.g. `http://orion:1026`. */
  readonly origin: string;
  /** Path prefix without a trailing slash; may be empty. */
  readonly prefix: string;
}

/**
 * Splits the base URL of a broker.
 *
 * @throws TypeError if the URL is not http(s), or has credentials, a query or a fragment, which could not be used
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
 * Returns the request-target for the broker: its prefix, then path and query of the request byte for byte. A target in
 * absolute form loses scheme and authority, because a server must ignore them in favour of its own (RFC 9112 § 3.2.2).
 *
 * @returns undefined if the target cannot be forwarded: it has another form, or contains a character that is not
 * allowed in a request line
 */
export function brokerTarget(base: BrokerBase, rawUrl: string): string | undefined {
  const target = originForm(rawUrl);
  return /^\/[\x21-\x7e\x80-\xff]*$/.test(target) ? base.prefix + target : undefined;
}
