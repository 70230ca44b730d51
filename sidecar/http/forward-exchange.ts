import { PassThrough as BodyStream } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { answerProblem, failureKind, FAILURE_PROBLEMS, instanceOf } from './forward-problem.js';
import type { FailureKind } from './forward-problem.js';
import { endAfterUpload, hasBody } from './late-upload.js';
import { endToEndHeaders, isPlainlyFramed } from './hop-by-hop.js';

/** A request that could not be forwarded to its end. */
export interface ForwardFailure {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly kind: FailureKind;
  /** Status the client was told; undefined when its connection was broken off because the answer had begun. */
  readonly status: number | undefined;
}

interface ExchangeOptions {
  readonly awaitsContinue: boolean;
  readonly onError: ((error: unknown, failure: ForwardFailure) => void) | undefined;
}

interface Outbound {
  readonly origin: string;
  readonly path: string;
  readonly headers: string[];
  readonly headersTimeout: number;
}

const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
const EMPTY = Buffer.alloc(0);

class ReplyNotHttpError extends Error {
  readonly code = 'HPE_UNKNOWN_TRANSFER_CODING';
}

class ClientGoneError extends Error {}

/**
 * One request on its way to the broker, and the answer on its way back: ties the two connections together, so that
 * each side's pace and each side's end is felt by the other. Use once.
 */
export class ForwardExchange implements Dispatcher.DispatchHandler {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #options: ExchangeOptions;
  #body: BodyStream | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #awaitsContinue: boolean;
  /** True once the broker's part is over: answered, failed or given up. */
  #settled = false;

  constructor(req: IncomingMessage, res: ServerResponse, options: ExchangeOptions) {
    this.#req = req;
    this.#res = res;
    this.#options = options;
    this.#awaitsContinue = options.awaitsContinue;
  }

  /** Sends the request; one with a body, once what came along with its head has been read. */
  start(dispatcher: Dispatcher, outbound: Outbound): void {
    this.#res.on('close', () => this.#onClientClosed());
    this.#res.on('error', () => undefined); // 'close' follows and says all there is to say
    if (!hasBody(this.#req)) this.#dispatch(dispatcher, outbound, null);
    else if (this.#awaitsContinue) this.#dispatch(dispatcher, outbound, this.#streamBody());
    else
      process.nextTick(() => this.#dispatch(dispatcher, outbound, this.#wholeBody() ?? this.#streamBody()));
  }

  #dispatch(dispatcher: Dispatcher, outbound: Outbound, body: Buffer | BodyStream | null): void {
    const { origin, path, headers, headersTimeout } = outbound;
    const method = this.#req.method ?? 'GET';
    try {
      dispatcher.dispatch({ origin, path, method, headers, headersTimeout, body }, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A body that came along with its head, as small ones do: it is sent in one piece, at half the cost of a stream. */
  #wholeBody(): Buffer | undefined {
    if (this.#req.readableLength !== Number(this.#req.headers['content-length'])) return undefined;
    const body = this.#req.read() as Buffer;
    this.#req.resume();
    return body;
  }

  /** The body as a stream of its own, so that what happens to it spares the client's socket. */
  #streamBody(): BodyStream {
    this.#body = new BodyStream();
    this.#body.on('error', () => undefined);
    this.#req.on('error', () => undefined);
    return this.#req.pipe(this.#body);
  }

  /** A connection to the broker is there: only now is the client told to go on with its body. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new ClientGoneError());
    else if (this.#awaitsContinue && this.#body !== undefined) {
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
    if (status < 200) return;
    if (!isPlainlyFramed(headers['transfer-encoding']))
      throw new ReplyNotHttpError('The answer has an unknown transfer coding.');
    const raw = rawOf(controller.rawHeaders ?? headers);
    this.#res.writeHead(status, printable(statusMessage), endToEndHeaders(raw));
    // Sends the head, together with what follows in the same tick. (flushHeaders would send its latin1 as UTF-8.) Without
    // a body the end sends it: a single piece is written faster.
    if (headers['content-length'] !== '0') this.#res.write(EMPTY);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#res.destroyed || this.#res.write(chunk)) return;
    controller.pause();
    this.#res.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#settle();
    endAfterUpload(this.#req, this.#res);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    // A 304 may tell the length of the body that it stands for (RFC 9110 § 8.6); undici misses those bytes.
    const isWhole = this.#res.statusCode === 304 && 'code' in error && error.code === LENGTH_MISMATCH;
    if (isWhole && !this.#settled) this.onResponseEnd();
    else this.#fail(error);
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    const kind = failureKind(error);
    const begun = this.#res.headersSent;
    this.#options.onError?.(error, {
      method: this.#req.method ?? '',
      path: instanceOf(this.#req.url ?? ''),
      kind,
      status: begun ? undefined : FAILURE_PROBLEMS[kind].status,
    });
    if (begun) breakOff(this.#req);
    else answerProblem(this.#req, this.#res, FAILURE_PROBLEMS[kind], this.#awaitsContinue);
  }

  #settle(): void {
    this.#settled = true;
    if (this.#body !== undefined) this.#req.unpipe(this.#body);
  }

  #onClientClosed(): void {
    if (this.#settled) return;
    this.#settle();
    this.#controller?.abort(new ClientGoneError());
  }
}

/** Resets the client's connection: without it a body that ends with the connection would look complete. */
function breakOff(req: IncomingMessage): void {
  if ('encrypted' in req.socket) req.socket.destroy();
  else req.socket.resetAndDestroy();
}

/** A reason phrase that may be written (RFC 9112 § 4), or none. */
function printable(statusMessage: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : '';
}

/** Names and values in turn; latin1 keeps every byte as it was. */
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
