import { PassThrough as BodyStream } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import {
  answerProblem,
  failureKind,
  FAILURE_PROBLEMS,
  isBrokenConnection,
  NoFreeSlotError,
  SlowClientError,
  type FailureKind,
} from './forward-problem.js';
import { transferTimeMs } from './min-data-rate.js';
import { endAfterUpload, hasBody } from './lingering-close.js';
import { endToEndHeaders } from './forward-headers.js';
import { type ForwardOverrides, BufferedResponse, UnusableReplyError } from './forward-overrides.js';
import { isPlainlyFramed, SAFE_METHODS } from './request-checks.js';
import type { SlotRequest, SlotHolder, Slots } from './slots.js';
import { requestIdOf, loggedPath } from './request-log.js';

/** A request that could not be forwarded completely. */
export interface ForwardFailure {
  readonly method: string;
  /** The path without the query, truncated if it is long. */
  readonly path: string;
  readonly kind: FailureKind;
  /** The id of the request in other logs: the one sent by the client, or a new one. */
  readonly reqId: string;
  /** The status that the client received; undefined if the answer had begun, so that the connection was reset. */
  readonly status: number | undefined;
}

/** The end of a request that was passed through, for measurements. */
export interface PassThroughResult {
  readonly method: string;
  /** The status sent to the client; undefined if the exchange ended before the answer was complete. */
  readonly status: number | undefined;
  /** Time from the head of the request to the end of the answer. */
  readonly ms: number;
}

interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  /** For requests that have arrived completely. */
  readonly wholeSlots: Slots;
  /** For requests whose bodies are still arriving. */
  readonly uploadSlots: Slots;
  /** The slowest average rate of a body while other requests wait for its slot. */
  readonly bytesPerSecond: number;
  readonly onError: ((error: unknown, failure: ForwardFailure) => void) | undefined;
  readonly onEnded: ((end: PassThroughResult) => void) | undefined;
}

interface Outbound {
  readonly origin: string;
  readonly path: string;
  readonly headers: string[];
  /** The longest wait for the head of the answer, and for more of its body, in ms. */
  readonly brokerTimeout: number;
}

const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
const EMPTY = Buffer.alloc(0);

/** If a request fails within this time, the broker had probably closed the connection before, in milliseconds. */
const STALE_CONNECTION_MS = 1000;

class ClientGoneError extends Error {}

/**
 * Connects a request to the broker with its answer to the client, so that the pace and the end of each side reach the
 * other. Use once.
 */
export class ForwardExchange implements Dispatcher.DispatchHandler, SlotRequest, SlotHolder {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #options: ExchangeOptions;
  readonly #outbound: Outbound;
  readonly #overrides: ForwardOverrides;
  #slots: Slots;
  #body: Buffer | BodyStream | null = null;
  #controller: Dispatcher.DispatchController | undefined;
  #awaitsContinue = false;
  /** Whether the head of the answer has yet to be sent, with a part of its body if there is one. */
  #headIsDue = false;
  /** Ends an exchange that only receives interim answers. */
  #interim: NodeJS.Timeout | undefined;
  /** When the request was last sent, after a connection was available. */
  #sentMs = 0;
  #isRetry = false;
  /** Whether the broker's part is over: answered, failed or given up. */
  #settled = false;
  #movedMs = 0;
  #buffered: BufferedResponse | undefined;
  readonly #startedMs = performance.now();

  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    options: ExchangeOptions,
    outbound: Outbound,
    parts: ForwardOverrides = {},
  ) {
    this.#req = req;
    this.#res = res;
    this.#options = options;
    this.#outbound = outbound;
    this.#overrides = parts;
    this.#slots = options.wholeSlots;
  }

  /** Sends the request. If it has a body, waits until the part that arrived with the head has been read. */
  start(awaitsContinue: boolean): void {
    this.#awaitsContinue = awaitsContinue;
    this.#res.on('close', () => this.#onClientClosed());
    this.#res.on('error', () => undefined); // 'close' follows
    if (!hasBody(this.#req)) this.#slots.acquire(this);
    else if (this.#overrides.body !== undefined || this.#overrides.replacement !== undefined)
      this.#acquireSlotForBody();
    else if (awaitsContinue) this.#acquireSlotForBody();
    else process.nextTick(() => this.#acquireSlotForBody());
  }

  #acquireSlotForBody(): void {
    if (this.#settled) return;
    this.#body =
      this.#givenBody() ?? (this.#awaitsContinue ? undefined : this.#wholeBody()) ?? this.#streamBody();
    this.#slots.acquire(this);
  }

  /** Called when a slot is available: sends the request. */
  admit(): void {
    if (this.#settled) {
      this.#slots.release();
      return;
    }
    if (this.#body instanceof BodyStream && !this.#req.complete) this.#watchClient();
    this.#dispatch();
  }

  #dispatch(): void {
    const { origin, path, headers, brokerTimeout } = this.#outbound;
    const method = this.#req.method ?? 'GET';
    const body = this.#body;
    try {
      this.#options.dispatcher.dispatch(
        { origin, path, method, headers, body, headersTimeout: brokerTimeout, bodyTimeout: brokerTimeout },
        this,
      );
    } catch (error) {
      this.#releaseSlot();
      this.#fail(error);
    }
  }

  reject(): void {
    this.#fail(new NoFreeSlotError('No connection became free in time.'));
  }

  /** Infinity while the broker is the slow side; the broker has its own time-out. */
  get idleSinceMs(): number {
    return this.#isBrokersTurn() ? Infinity : this.#movedMs;
  }

  #isBrokersTurn(): boolean {
    return this.#body instanceof BodyStream && this.#body.writableNeedDrain;
  }

  /** Ends an exchange that has made no progress for too long. */
  abort(): void {
    const error = this.#isBrokersTurn()
      ? new errors.HeadersTimeoutError('The broker does not take the body.')
      : new SlowClientError('The client has stopped sending or reading.');
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #watchClient(): void {
    this.#movedMs = performance.now();
    this.#slots.watch(this);
  }

  /** Gives the slot back when the broker's part is over. */
  #releaseSlot(): void {
    if (this.#interim !== undefined) clearTimeout(this.#interim);
    this.#slots.unwatch(this);
    this.#slots.release();
  }

  #givenBody(): Buffer | undefined {
    const { body, replacement } = this.#overrides;
    return replacement?.body ?? (body?.isWhole === true ? body.bytes : undefined);
  }

  /**
   * Returns a body that arrived completely with its head, as small ones do. Sending it in one piece takes half the time
   * of a stream.
   */
  #wholeBody(): Buffer | undefined {
    if (this.#req.readableLength !== Number(this.#req.headers['content-length'])) return undefined;
    const body = this.#req.read() as Buffer;
    this.#req.resume();
    return body;
  }

  /** Returns the body as a separate stream, so that its errors do not reach the client's socket. */
  #streamBody(): BodyStream {
    this.#slots = this.#options.uploadSlots;
    const body = new BodyStream();
    if (this.#overrides.body !== undefined) body.write(this.#overrides.body.bytes);
    const { bytesPerSecond } = this.#options;
    body.on('error', () => undefined);
    // The broker was the slow side until now.
    body.on('drain', () => (this.#movedMs = performance.now()));
    this.#req.on('error', () => undefined);
    this.#req.on('data', ({ length }: Buffer) => {
      // Occasional single bytes do not count as progress.
      this.#movedMs = Math.min(performance.now(), this.#movedMs + transferTimeMs(length, bytesPerSecond));
    });
    this.#req.once('end', () => this.#slots.unwatch(this));
    this.#req.on('timeout', () => this.abort());
    return this.#req.pipe(body);
  }

  /** Called when there is a connection to the broker: the client may now send its body (`100 Continue`). */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#sentMs = performance.now();
    this.#controller = controller;
    if (this.#settled) controller.abort(new ClientGoneError());
    else if (this.#awaitsContinue && this.#body !== null) {
      this.#awaitsContinue = false;
      this.#res.writeContinue();
    }
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    statusMessage = '',
  ): void {
    if (status < 200) {
      this.#interim ??= setTimeout(() => this.#onOnlyInterim(controller), this.#outbound.brokerTimeout);
      return;
    }
    if (this.#interim !== undefined) clearTimeout(this.#interim);
    if (!isPlainlyFramed(headers['transfer-encoding']))
      throw new UnusableReplyError('The answer has an unknown transfer coding.');
    const { responseFields = [], replacement } = this.#overrides;
    const fields = [...endToEndHeaders(rawOf(controller.rawHeaders ?? headers)), ...responseFields];
    if (replacement !== undefined) {
      this.#buffered = new BufferedResponse(status, printable(statusMessage), fields, replacement);
      return;
    }
    this.#res.writeHead(status, printable(statusMessage), fields);
    this.#headIsDue = true;
    if (headers['content-length'] === '0') return;
    // The head is sent together with the data that arrived with it, or otherwise alone: each additional write takes
    // microseconds.
    this.#req.socket.cork();
    process.nextTick(sendHead, this);
  }

  /** Sends the head of an answer whose body has yet to come. (flushHeaders would send Latin-1 characters as UTF-8.) */
  sendHead(): void {
    if (this.#headIsDue && !this.#settled) this.#res.write(EMPTY);
    this.#headIsDue = false;
    this.#req.socket.uncork();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#headIsDue = false;
    if (this.#buffered !== undefined) {
      this.#buffered.add(chunk);
      return;
    }
    if (this.#res.destroyed || this.#res.write(chunk)) return;
    controller.pause();
    this.#watchClient();
    this.#res.once('drain', () => {
      if (this.#req.complete) this.#slots.unwatch(this);
      controller.resume();
    });
  }

  /**
   * Handles an exchange that has only received interim answers (1xx), which do not count as the answer. They are
   * expected during an upload, which may take any time.
   */
  #onOnlyInterim(controller: Dispatcher.DispatchController): void {
    if (this.#req.complete) controller.abort(new errors.HeadersTimeoutError());
    else this.#interim?.refresh();
  }

  onResponseEnd(): void {
    this.#releaseSlot();
    this.#buffered?.writeTo(this.#res);
    this.#end();
  }

  #end(): void {
    this.#settle();
    endAfterUpload(this.#req, this.#res);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#mayRetry(error)) {
      this.#isRetry = true;
      this.#dispatch();
      return;
    }
    this.#releaseSlot();
    // A 304 may state the length of the body that it stands for (RFC 9110 § 8.6); undici reports the missing bytes as
    // an error.
    const isWhole = this.#res.statusCode === 304 && 'code' in error && error.code === LENGTH_MISMATCH;
    if (isWhole && !this.#settled) this.#end();
    else this.#fail(error);
  }

  /**
   * Whether a failed request may be sent again. A broker may close a kept-alive connection while a request is on its
   * way; such a request fails immediately and, if it changes nothing, is sent once more. A request that fails later is
   * not repeated, because it would probably fail again.
   */
  #mayRetry(error: Error): boolean {
    if (performance.now() - this.#sentMs > STALE_CONNECTION_MS) return false;
    const isUnanswered = !this.#settled && !this.#res.headersSent && this.#interim === undefined;
    const changesNothing = SAFE_METHODS.has(this.#req.method ?? '') && this.#body === null;
    return changesNothing && isUnanswered && !this.#isRetry && isBrokenConnection(error);
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#slots.cancel(this);
    const kind = failureKind(error);
    const begun = this.#res.headersSent;
    this.#options.onError?.(error, {
      method: this.#req.method ?? '',
      path: loggedPath(this.#req.url ?? ''),
      kind,
      reqId: requestIdOf(this.#req),
      status: begun ? undefined : FAILURE_PROBLEMS[kind].status,
    });
    if (begun) resetConnection(this.#req);
    else {
      // If the client has stopped sending, do not wait for its body again.
      const isLast = this.#awaitsContinue || kind === 'slow-client';
      answerProblem(this.#req, this.#res, FAILURE_PROBLEMS[kind], isLast);
    }
  }

  #settle(): void {
    this.#settled = true;
    if (this.#body instanceof BodyStream) this.#req.unpipe(this.#body);
  }

  #onClientClosed(): void {
    this.#options.onEnded?.({
      method: this.#req.method ?? '',
      status: this.#res.writableFinished ? this.#res.statusCode : undefined,
      ms: performance.now() - this.#startedMs,
    });
    if (this.#settled) return;
    this.#settle();
    this.#slots.cancel(this);
    this.#controller?.abort(new ClientGoneError());
  }
}

function sendHead(exchange: ForwardExchange): void {
  exchange.sendHead();
}

/** Resets the client's connection. Otherwise a body that ends with the connection would look complete. */
function resetConnection(req: IncomingMessage): void {
  if ('encrypted' in req.socket) req.socket.destroy();
  else req.socket.resetAndDestroy();
}

/** Returns a reason phrase that may be written (RFC 9112 § 4), or an empty string. */
function printable(statusMessage: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : '';
}

/** Alternating names and values. Latin-1 preserves every byte. */
function rawOf(
  headers: readonly Buffer[] | readonly string[] | Readonly<Record<string, string | string[] | undefined>>,
): string[] {
  if (Array.isArray(headers)) {
    return headers.map((item: Buffer | string) =>
      typeof item === 'string' ? item : item.toString('latin1'),
    );
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((item: string) => [name, item]),
  );
}
