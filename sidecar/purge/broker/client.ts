import { isUtf8 } from 'node:buffer';
import { errors, interceptors, Pool, type Dispatcher } from 'undici';
import { ByteCollector } from '../../shared/byte-collector.js';
import { connectionProblem } from '../../shared/connection-problem.js';
import { TurnQueue } from '../../shared/event-loop.js';
import { exceededJsonLimit, type JsonLimits } from '../../shared/json/limits.js';
import { withVia } from '../../shared/via.js';
import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  type NoAnswer,
  NoAnswerError,
  ReplyTooLargeError,
  RequestAbortedError,
} from './errors.js';
import { errorCode } from '../../shared/errors.js';

/** One request to the broker's NGSI-LD API. */
export interface BrokerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API root `/ngsi-ld/v1`, e.g. `/entities?type=Car`; percent-encoded by the caller. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as application/json. */
  readonly jsonBody?: string | undefined;
  /** Maximum size of the answer in bytes, within the client's own limit. */
  readonly replyMaxBytes?: number | undefined;
  /** Whether the answer may be nested to any depth, because nothing here follows it down. */
  readonly mayBeDeep?: boolean | undefined;
  /** Aborts the request. Given only for requests without an effect on the broker. */
  readonly signal?: AbortSignal;
  /**
   * Called when there is a connection, which may take a while. If it throws, nothing is sent, and `send` throws the same error.
   */
  readonly beforeSending?: () => void;
}

/** One complete answer of the broker. Header names are lower-case; repeated headers are joined by a comma. */
export interface BrokerReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether bytes that are not UTF-8 were replaced by U+FFFD. */
  readonly isDamaged?: boolean;
}

/** Sends single requests: no retries, no interpretation. */
export interface BrokerClient {
  /**
   * Sends one request and reads the whole answer.
   *
   * @throws BrokerTimeoutError, BrokerUnreachableError, ReplyTooLargeError, RequestAbortedError
   */
  send(request: BrokerRequest): Promise<BrokerReply>;
  /** Closes all connections. Requests in flight end without an answer (BrokerUnreachableError), and nothing more is sent. */
  close(): Promise<void>;
}

export interface BrokerClientOptions {
  /** Base URL of the broker; a path prefix is kept. */
  readonly brokerUrl: URL;
  /** Time limit of one request, from connecting to the last byte of its answer. */
  readonly timeoutMs: number;
  readonly replyMaxBytes?: number;
  /** This gateway's name in `Via`, by which it recognises a request that comes back. */
  readonly viaName?: string;
  /** Called for each request when it has ended. Must not throw. */
  readonly onEnded?: (end: BrokerRequestEnd) => void;
  /** Called for each answer. Must not throw. */
  readonly onReply?: (reply: BrokerReply) => void;
  /** Decides when large answers are handed out. By default one after the other, each in a turn of the event loop. */
  readonly large?: TurnQueue;
  /** Replaces the client's own connection pool, for tests. */
  readonly dispatcher?: Dispatcher;
}

/** How one request ended, for metrics and traces. */
export interface BrokerRequestEnd {
  readonly method: BrokerRequest['method'];
  /** Below the API root. */
  readonly path: string;
  /** The trace that the request belongs to (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** Status of the answer; undefined if there was none. */
  readonly status: number | undefined;
  /** Why there was no answer. */
  readonly noAnswer?: NoAnswer | undefined;
  readonly ms: number;
}

const API_ROOT = '/ngsi-ld/v1';

/** Default limit of an answer: an entity may be as large as a MongoDB document. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** Limits on the JSON of an answer, so that parsing takes a few hundred milliseconds at most. */
const REPLY_WEIGHT: JsonLimits = { elements: 500_000, depth: 500 };

const KEEP_ALIVE_MS = 10_000;

/** What all connections to a broker have in common. */
export const BROKER_CONNECTIONS = {
  // A request that waits for a connection would look like a slow broker. Purges and forwarding have limits of their own.
  connections: null,
  // Over HTTP/2, all requests share one connection, and a client that does not read its answer can hold up all.
  allowH2: false,
  // Connections that are always in use would never notice that the name of the broker has another address.
  clientTtl: 60_000,
  // Links to the next and the previous page repeat the query.
  maxHeaderSize: 256 * 1024,
} as const satisfies Pool.Options;

/** Requests and answers of this length or more are about hundreds of entities, whose results are all noted at once. */
const LARGE_CHARS = 8 * 1024;

/** The client of one broker, with its own pool of keep-alive connections. */
export function createBrokerClient(options: BrokerClientOptions): BrokerClient {
  const { brokerUrl, timeoutMs, viaName, onEnded, onReply } = options;
  const replyMaxBytes = options.replyMaxBytes ?? MAX_REPLY_BYTES;
  const prefix = brokerUrl.pathname.replace(/\/+$/, '') + API_ROOT;
  const large = options.large ?? new TurnQueue();
  const dispatcher =
    options.dispatcher ??
    new Pool(brokerUrl.origin, {
      ...BROKER_CONNECTIONS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: timeoutMs },
      // The client's own timer covers the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    }).compose(interceptors.decompress({ skipErrorResponses: false }));

  async function answerTo(request: BrokerRequest): Promise<BrokerReply> {
    const { signal } = request;
    if (signal?.aborted === true) throw aborted(request);
    const exchange = new Exchange(
      Math.min(replyMaxBytes, request.replyMaxBytes ?? Infinity),
      request.beforeSending,
      request.mayBeDeep === true ? Infinity : REPLY_WEIGHT.depth,
    );
    const timer = setTimeout(() => {
      const message = `The broker did not answer within ${timeoutMs} ms.`;
      exchange.cancel(new BrokerTimeoutError(message, exchange.hasStarted));
    }, timeoutMs);
    const onAbort = () => exchange.cancel(aborted(request));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await exchange.run(dispatcher, {
        origin: brokerUrl.origin,
        path: prefix + request.path,
        method: request.method,
        headers: {
          accept: 'application/json',
          // Without it, any coding is acceptable (RFC 9110 § 12.5.3), and some proxies compress then. Others always do.
          'accept-encoding': 'identity',
          // A cache must not answer for the broker (RFC 9111 § 5.2.1.4).
          'cache-control': 'no-cache',
          ...request.headers,
          ...(viaName === undefined ? {} : { via: withVia(request.headers?.['via'], viaName) }),
          ...(request.jsonBody === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: request.jsonBody ?? null,
      });
    } catch (error) {
      if (exchange.reason !== undefined) throw exchange.reason;
      const message = `The broker at ${brokerUrl.origin}${brokerUrl.pathname} could not be reached: ${reasonOf(error)}.`;
      throw new BrokerUnreachableError(message, exchange.hasStarted, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async function send(request: BrokerRequest): Promise<BrokerReply> {
    const startedMs = performance.now();
    let status: number | undefined;
    let noAnswer: NoAnswer | undefined;
    try {
      const reply = await answerTo(request);
      ({ status } = reply);
      onReply?.(reply);
      if (Math.max(reply.body.length, request.jsonBody?.length ?? 0) >= LARGE_CHARS) await large.nextTurn();
      return reply;
    } catch (error) {
      if (error instanceof NoAnswerError) ({ noAnswer } = error);
      throw error;
    } finally {
      const { method, path, headers } = request;
      const traceparent = headers?.['traceparent'];
      onEnded?.({ method, path, traceparent, status, noAnswer, ms: performance.now() - startedMs });
    }
  }

  return {
    send,
    // A graceful close would wait for idle keep-alive sockets, and for a broker that hangs.
    close: async () => {
      if (options.dispatcher === undefined) await dispatcher.destroy();
    },
  };
}

/**
 * One request on its way to the broker, and its whole answer. It avoids the streams and promises of a general client, which
 * would double the cost of a small request. Can be used once.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Why it was cancelled; the first reason counts. */
  reason: Error | undefined;
  /** Whether the request, or a part of it, may have been sent. */
  hasStarted = false;
  readonly #maxBytes: number;
  readonly #beforeSending: (() => void) | undefined;
  readonly #limits: JsonLimits;
  #running: Dispatcher.DispatchController | undefined;
  #resolve: (reply: BrokerReply) => void = () => {};
  #reject: (reason: Error) => void = () => {};
  #status = 0;
  #headers: ReadonlyMap<string, string> = new Map();
  #body = new ByteCollector();

  /**
   * @param maxBytes maximum size of the body of the answer
   * @param beforeSending called once there is a connection; if it throws, nothing is sent, and the error becomes the reason
   * @param maxDepth maximum nesting depth of arrays and objects in the answer
   */
  constructor(maxBytes: number, beforeSending?: () => void, maxDepth = REPLY_WEIGHT.depth) {
    this.#maxBytes = maxBytes;
    this.#limits = { ...REPLY_WEIGHT, depth: maxDepth };
    this.#beforeSending = beforeSending;
  }

  /** Sends the request. @throws undici's errors, or the reason of the cancellation */
  run(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): Promise<BrokerReply> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      dispatcher.dispatch(request, this);
    });
  }

  cancel(reason: Error): void {
    this.reason ??= reason;
    if (this.#running === undefined) this.#reject(this.reason);
    else this.#running.abort(this.reason);
  }

  /** Called when there is a connection and nothing was sent yet. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#running = controller;
    try {
      if (this.reason === undefined) this.#beforeSending?.();
    } catch (error) {
      this.reason = error instanceof Error ? error : new Error('The request was refused.', { cause: error });
    }
    // If it was cancelled while waiting for a connection, nothing is sent.
    if (this.reason === undefined) this.hasStarted = true;
    else controller.abort(this.reason);
  }

  /** Interim answers (1xx) are replaced by the final one. */
  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    this.#headers = headerMap(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const isTooLong = this.#body.length + chunk.length > this.#maxBytes;
    if (isTooLong) this.cancel(tooLarge(`is larger than ${this.#maxBytes} bytes`));
    // Copy it, because the parser may reuse the memory.
    else this.#body.add(Buffer.from(chunk));
  }

  onResponseEnd(): void {
    const bytes = this.#body.concat();
    const excess = exceededJsonLimit(bytes, this.#limits);
    if (excess === undefined) {
      const body = bytes.toString('utf8').replace(/^\ufeff/, '');
      this.#resolve({ status: this.#status, headers: this.#headers, body, isDamaged: !isUtf8(bytes) });
    } else this.#reject((this.reason = tooLarge(excess)));
    // A removed abort listener still references the later ones, and each of those its exchange. Without this, all pages of a
    // purge would stay in memory until a full garbage collection.
    this.#running = undefined;
    this.#body = new ByteCollector();
    this.#resolve = () => {};
    this.#reject = () => {};
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

function tooLarge(excess: string): ReplyTooLargeError {
  return new ReplyTooLargeError(`The broker's answer ${excess}.`);
}

function headerMap(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}

function aborted(request: BrokerRequest): RequestAbortedError {
  return new RequestAbortedError(`${request.method} request to the broker was aborted by the caller.`);
}

/** Returns a short reason without host names and addresses from the error, because messages reach clients. */
function reasonOf(error: unknown): string {
  // These errors come without a code.
  if (error instanceof errors.HTTPParserError) return 'its answer is not HTTP';
  const code = errorCode(error);
  if (code === 'UND_ERR_DESTROYED') return 'the gateway is shutting down';
  return code === undefined ? 'unknown reason' : connectionProblem(code);
}
