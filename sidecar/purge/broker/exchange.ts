import type { Dispatcher } from 'undici';
import { ReplyTooLargeError } from './errors.js';
import { JsonWeight, type WeightLimits } from '../../shared/json-weight.js';

/** One complete answer of the broker. Header names are lower-case; repeated headers are joined by a comma. */
export interface BrokerReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Limits on the JSON of an answer: parsing takes a few hundred milliseconds at most. */
const REPLY_WEIGHT: WeightLimits = { marks: 500_000, depth: 500 };

/** Cancels one exchange. */
export class Canceller {
  /** Why it was cancelled; the first reason counts. */
  reason: Error | undefined;
  /** The request was sent, or a part of it. */
  hasStarted = false;
  readonly #beforeSending: (() => void) | undefined;
  #running: Dispatcher.DispatchController | undefined;
  #rejectEarly: (reason: Error) => void = () => {};

  /** @param beforeSending asked once there is a connection; when it throws, nothing is sent, and what it throws is the reason */
  constructor(beforeSending?: () => void) {
    this.#beforeSending = beforeSending;
  }

  cancel(reason: Error): void {
    this.reason ??= reason;
    if (this.#running === undefined) this.#rejectEarly(this.reason);
    else this.#running.abort(this.reason);
  }

  /** @param reject called when the exchange is cancelled before its request is sent */
  onCancelledEarly(reject: (reason: Error) => void): void {
    this.#rejectEarly = reject;
  }

  /** Takes the controller of the request, once there is a connection and before anything is sent. */
  attach(controller: Dispatcher.DispatchController): void {
    this.#running = controller;
    try {
      if (this.reason === undefined) this.#beforeSending?.();
    } catch (error) {
      this.reason = error instanceof Error ? error : new Error('The request was refused.', { cause: error });
    }
    // Cancelled while waiting for a connection: nothing is sent.
    if (this.reason === undefined) this.hasStarted = true;
    else controller.abort(this.reason);
  }

  /** Releases everything, once the answer is complete. */
  release(): void {
    // A removed abort listener still references later ones, and each of them its canceller. Without this, all pages of a
    // purge would stay in memory until a full garbage collection.
    this.#running = undefined;
    this.#rejectEarly = () => {};
  }
}

/**
 * Sends one request and reads the whole answer. It avoids the streams and promises of a general client, which would
 * double the cost of a small request.
 *
 * @throws undici's errors, or the reason of the cancellation
 */
export async function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  canceller: Canceller,
  maxBytes: number,
): Promise<BrokerReply> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: ReadonlyMap<string, string> = new Map();
    const chunks: Buffer[] = [];
    const weight = new JsonWeight(REPLY_WEIGHT);
    let bytes = 0;
    canceller.onCancelledEarly(reject);
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => canceller.attach(controller),
      onResponseStart(_controller, statusCode, received) {
        // Interim answers (1xx) are replaced by the final one.
        status = statusCode;
        headers = headerMap(received);
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
        weight.add(chunk);
        const excess = bytes > maxBytes ? `is larger than ${maxBytes} bytes` : weight.excess;
        if (excess !== undefined) canceller.cancel(new ReplyTooLargeError(`The broker's answer ${excess}.`));
        // The parser may reuse the memory.
        else chunks.push(Buffer.from(chunk));
      },
      onResponseEnd() {
        canceller.release();
        resolve({ status, headers, body: textOf(chunks, bytes) });
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    });
  });
}

function textOf(chunks: readonly Buffer[], bytes: number): string {
  const [only] = chunks;
  if (only === undefined) return '';
  const text = (chunks.length === 1 ? only : Buffer.concat(chunks, bytes)).toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
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
