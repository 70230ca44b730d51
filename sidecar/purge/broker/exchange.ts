import type { Dispatcher } from 'undici';
import { ReplyTooLargeError } from './errors.js';
import { JsonWeight, type WeightLimits } from '../../shared/json-weight.js';

/** One complete answer of the broker. Header names are lower-case; repeated headers are joined by a comma. */
export interface BrokerReply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What an answer may hold, so that reading it takes some hundred milliseconds at the worst. */
const REPLY_WEIGHT: WeightLimits = { marks: 500_000, depth: 500 };

/** Ends one exchange early. */
export interface Canceller {
  /** Why it was ended; the first reason counts. */
  readonly reason: Error | undefined;
  cancel(reason: Error): void;
  /** @param reject told when the exchange is ended before its request is on its way */
  onCancelledEarly(reject: (reason: Error) => void): void;
  /** Takes over as soon as there is a connection. */
  attach(controller: Dispatcher.DispatchController): void;
  /** There was a connection to send the request on. */
  readonly hasStarted: boolean;
  /** The answer is complete: nothing of it is kept here any longer. */
  release(): void;
}

export function createCanceller(): Canceller {
  let reason: Error | undefined;
  let running: Dispatcher.DispatchController | undefined;
  let hasStarted = false;
  let rejectEarly: (reason: Error) => void = () => {};
  return {
    get reason() {
      return reason;
    },
    cancel(error) {
      reason ??= error;
      if (running === undefined) rejectEarly(reason);
      else running.abort(reason);
    },
    onCancelledEarly(reject) {
      rejectEarly = reject;
    },
    attach(controller) {
      // Ended while it waited for a connection: nothing of it is sent.
      if (reason !== undefined) controller.abort(reason);
      running = controller;
      hasStarted = true;
    },
    get hasStarted() {
      return hasStarted;
    },
    release() {
      // A listener that was removed from a signal leads to those that came after it, and each of them to its canceller: without
      // this, all pages of a purge would live until a full collection.
      running = undefined;
      rejectEarly = () => {};
    },
  };
}

/**
 * Sends one request and reads the whole answer, without the streams and promises of a general client, which cost as much
 * as all the rest of a small request.
 *
 * @throws what undici throws, or the reason of the cut
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
        // Interim answers (1xx) come before the one that counts, which takes their place.
        status = statusCode;
        headers = headerMap(received);
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
        weight.add(chunk);
        const excess = bytes > maxBytes ? `is larger than ${maxBytes} bytes` : weight.excess;
        if (excess !== undefined) canceller.cancel(new ReplyTooLargeError(`The broker's answer ${excess}.`));
        // The parser may use its memory again.
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
