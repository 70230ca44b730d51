import { Pool, type Dispatcher } from 'undici';
import { OneATurn } from '../../shared/next-turn.js';
import { withVia } from '../../shared/via.js';
import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  type NoAnswer,
  NoAnswerError,
  RequestAbortedError,
} from './errors.js';
import { Canceller, exchange, type BrokerReply } from './exchange.js';

/** One request to the broker's NGSI-LD API. */
export interface BrokerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API root `/ngsi-ld/v1`, e.g. `/entities?type=Car`; percent-encoded by the caller. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as application/json. */
  readonly jsonBody?: string;
  /** Most bytes of the answer, within the client's own limit. */
  readonly replyMaxBytes?: number;
  /** Aborts the request. Given only for requests without an effect on the broker. */
  readonly signal?: AbortSignal;
  /** Called when there is a connection, which may take a while; when it throws, nothing is sent, and `send` throws the same. */
  readonly beforeSending?: () => void;
}

/** Sends single requests: no retries, no interpretation. */
export interface BrokerClient {
  /**
   * Sends one request and reads the whole answer.
   *
   * @throws BrokerTimeoutError, BrokerUnreachableError, ReplyTooLargeError, RequestAbortedError
   */
  send(request: BrokerRequest): Promise<BrokerReply>;
  /** Closes all connections: what is in flight ends without its answer (BrokerUnreachableError), and nothing more is sent. */
  close(): Promise<void>;
}

export interface BrokerClientOptions {
  /** Base URL of the broker; a path prefix is kept. */
  readonly brokerUrl: URL;
  /** For one request, from sending it to the last byte of its answer. */
  readonly timeoutMs: number;
  readonly replyMaxBytes?: number;
  /** This gateway's name in `Via`, by which it recognises a request that comes back. */
  readonly viaName?: string;
  /** Told of each request when it has ended. Must not throw. */
  readonly onEnded?: (end: BrokerRequestEnd) => void;
  /** When large answers are handed out. By default one after the other, each in a turn of the event loop. */
  readonly large?: OneATurn;
  /** Replaces the client's own connection pool, for tests. */
  readonly dispatcher?: Dispatcher;
}

/** How one request ended, for those who measure. */
export interface BrokerRequestEnd {
  readonly method: BrokerRequest['method'];
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** Why there was none. */
  readonly noAnswer?: NoAnswer | undefined;
  readonly ms: number;
}

const API_ROOT = '/ngsi-ld/v1';

/** An entity may be as large as a document of MongoDB. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

const KEEP_ALIVE_MS = 10_000;

/** Requests and answers from this length on are about hundreds of entities, and what becomes of each is noted at once. */
const LARGE_CHARS = 8 * 1024;

/** The client of one broker, with its own pool of keep-alive connections. */
export function createBrokerClient(options: BrokerClientOptions): BrokerClient {
  const { brokerUrl, timeoutMs, viaName, onEnded } = options;
  const replyMaxBytes = options.replyMaxBytes ?? MAX_REPLY_BYTES;
  const prefix = brokerUrl.pathname.replace(/\/+$/, '') + API_ROOT;
  const large = options.large ?? new OneATurn();
  const dispatcher =
    options.dispatcher ??
    new Pool(brokerUrl.origin, {
      // No limit besides the concurrency of purges: a request waiting for a connection would look like a slow broker.
      connections: null,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: timeoutMs },
      // The client's own timer covers the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });

  async function send(request: BrokerRequest): Promise<BrokerReply> {
    const { signal } = request;
    if (signal?.aborted === true) throw aborted(request);
    const outgoing: Dispatcher.DispatchOptions = {
      origin: brokerUrl.origin,
      path: prefix + request.path,
      method: request.method,
      headers: {
        accept: 'application/json',
        ...request.headers,
        ...(viaName === undefined ? {} : { via: withVia(request.headers?.['via'], viaName) }),
        ...(request.jsonBody === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.jsonBody ?? null,
    };
    const canceller = new Canceller(request.beforeSending);
    const timer = setTimeout(() => {
      const message = `The broker did not answer within ${timeoutMs} ms.`;
      canceller.cancel(new BrokerTimeoutError(message, canceller.hasStarted));
    }, timeoutMs);
    const onAbort = () => canceller.cancel(aborted(request));
    signal?.addEventListener('abort', onAbort, { once: true });
    let reply: BrokerReply;
    try {
      reply = await exchange(
        dispatcher,
        outgoing,
        canceller,
        Math.min(replyMaxBytes, request.replyMaxBytes ?? Infinity),
      );
    } catch (error) {
      if (canceller.reason !== undefined) throw canceller.reason;
      const message = `The broker at ${brokerUrl.origin}${brokerUrl.pathname} could not be reached: ${reasonOf(error)}.`;
      throw new BrokerUnreachableError(message, canceller.hasStarted, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
    if (Math.max(reply.body.length, request.jsonBody?.length ?? 0) >= LARGE_CHARS) await large.turn();
    return reply;
  }

  return {
    send: onEnded === undefined ? send : observed(send, onEnded),
    // A graceful close would wait for idle keep-alive sockets, and for a broker that hangs.
    close: async () => {
      if (options.dispatcher === undefined) await dispatcher.destroy();
    },
  };
}

function observed(
  send: BrokerClient['send'],
  onEnded: (end: BrokerRequestEnd) => void,
): BrokerClient['send'] {
  return async (request) => {
    const { method } = request;
    const startedMs = performance.now();
    const elapsedMs = () => performance.now() - startedMs;
    try {
      const reply = await send(request);
      onEnded({ method, status: reply.status, ms: elapsedMs() });
      return reply;
    } catch (error) {
      const noAnswer = error instanceof NoAnswerError ? error.noAnswer : undefined;
      onEnded({ method, status: undefined, noAnswer, ms: elapsedMs() });
      throw error;
    }
  };
}

function aborted(request: BrokerRequest): RequestAbortedError {
  return new RequestAbortedError(`${request.method} request to the broker was aborted by the caller.`);
}

/** A short reason without the broker's address, because messages reach clients. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'connection broken';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name does not resolve';
    case 'UND_ERR_DESTROYED':
      return 'the gateway is shutting down';
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'connection timed out';
    default:
      return code ?? 'unknown reason';
  }
}

/**
 * Request headers of a purge that go to the broker on each of its requests: @context (clause 6.3.5), tenant (6.3.14),
 * loop prevention (6.3.18), credentials and tracing.
 */
export const FORWARDED_HEADERS = [
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

/** Picks the forwarded headers out of a request's; names are lower-case on both sides. */
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
