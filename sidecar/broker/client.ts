import { Pool, type Dispatcher } from 'undici';
import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
} from './errors.js';
import type { BrokerReply } from './outcome.js';

/** One request to the broker's NGSI-LD API. */
export interface BrokerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API root `/ngsi-ld/v1`, e.g. `/entities?type=Car`; percent-encoded by the caller, sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as application/json. */
  readonly jsonBody?: string;
  /** Ends the request early. Only given for requests that may be cut off without doubt about their effect. */
  readonly signal?: AbortSignal;
}

/** Sends single requests: no retries, no interpretation. */
export interface BrokerClient {
  /**
   * Sends one request and reads the whole answer.
   *
   * @throws BrokerTimeoutError, BrokerUnreachableError, ReplyTooLargeError, RequestAbortedError
   */
  send(request: BrokerRequest): Promise<BrokerReply>;
  close(): Promise<void>;
}

export interface BrokerClientOptions {
  /** Base URL of the broker; a path prefix is kept. */
  readonly brokerUrl: URL;
  /** For one request, from sending it to the last byte of its answer. */
  readonly timeoutMs: number;
  readonly replyMaxBytes?: number;
  /** Replaces the client's own connection pool, for tests. */
  readonly dispatcher?: Dispatcher;
}

const API_ROOT = '/ngsi-ld/v1';
const REPLY_MAX_BYTES = 64 * 1024 * 1024;
const KEEP_ALIVE_MS = 10_000;
const TIMED_OUT = Symbol('timed out');

/** The client of one broker, with its own pool of keep-alive connections. */
export function createBrokerClient(options: BrokerClientOptions): BrokerClient {
  const { brokerUrl, timeoutMs } = options;
  const replyMaxBytes = options.replyMaxBytes ?? REPLY_MAX_BYTES;
  const prefix = brokerUrl.pathname.replace(/\/+$/, '') + API_ROOT;
  const dispatcher =
    options.dispatcher ??
    new Pool(brokerUrl.origin, {
      // As many as the purges' concurrency asks for: a request waiting for a connection would look like a slow broker.
      connections: null,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: timeoutMs },
      // The client's own timer covers the whole request; undici's would only be a second, coarser opinion.
      headersTimeout: 0,
      bodyTimeout: 0,
    });

  async function send(request: BrokerRequest): Promise<BrokerReply> {
    const isAborted = () => request.signal?.aborted === true;
    if (isAborted()) throw aborted(request);
    const controller = new AbortController();
    const timer = setTimeout(() => {
      controller.abort(TIMED_OUT);
    }, timeoutMs);
    const onAbort = () => controller.abort();
    request.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const response = await dispatcher.request({
        origin: brokerUrl.origin,
        path: prefix + request.path,
        method: request.method,
        headers: {
          accept: 'application/json',
          ...request.headers,
          ...(request.jsonBody === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: request.jsonBody ?? null,
        signal: controller.signal,
      });
      return {
        status: response.statusCode,
        headers: headerMap(response.headers),
        body: await readText(response, replyMaxBytes),
      };
    } catch (error) {
      if (error instanceof ReplyTooLargeError) throw error;
      if (controller.signal.reason === TIMED_OUT) {
        throw new BrokerTimeoutError(`The broker did not answer within ${timeoutMs} ms.`, { cause: error });
      }
      if (isAborted()) throw aborted(request, error);
      throw new BrokerUnreachableError(`The broker could not be reached: ${reasonOf(error)}.`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
    }
  }

  return {
    send,
    // Graceful close would wait for idle keep-alive sockets' peers; nothing is in flight by the time this is called.
    close: async () => {
      if (options.dispatcher === undefined) await dispatcher.destroy();
    },
  };
}

function aborted(request: BrokerRequest, cause?: unknown): RequestAbortedError {
  return new RequestAbortedError(`${request.method} request to the broker was cut off by the caller.`, {
    cause,
  });
}

/** A short reason without addresses: error messages reach clients, and the broker's address is not theirs to know. */
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
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'connection timed out';
    default:
      return code ?? 'unknown reason';
  }
}

async function readText(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<string> {
  // The parser holds an answer to the length it announced, and a 204 to none (RFC 9112 § 6.3): read in one go, for less.
  if (statusCode === 204 || Number(headers['content-length'] ?? NaN) <= maxBytes) return body.text();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (bytes > maxBytes)
      throw new ReplyTooLargeError(`The broker's answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return chunks.length === 1
    ? (chunks[0] as Buffer).toString('utf8')
    : Buffer.concat(chunks, bytes).toString('utf8');
}

function headerMap(headers: Dispatcher.ResponseData['headers']): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}
