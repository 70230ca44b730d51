import type { ServerResponse } from 'node:http';
import { ByteCollector } from '../shared/byte-collector.js';

/** The parts of an exchange that were changed or read before forwarding. */
export interface ForwardOverrides {
  /** The part of the body that was already read; if `isWhole`, there is no more. */
  readonly body?: { readonly bytes: Buffer; readonly isWhole: boolean };
  /** Names and values of fields to add to the answer. */
  readonly responseFields?: readonly string[];
  /**
   * A body to send in place of the received one, and a function that changes the answer to it, or returns undefined to
   * leave the answer unchanged.
   */
  readonly replacement?: {
    readonly body: Buffer;
    readonly answer: (
      status: number,
      body: string,
    ) => { readonly status: number; readonly body: string } | undefined;
  };
}

/** Fields that describe the bytes of a body, or determine how the answer to it may be encoded. */
const BODY_FIELDS: ReadonlySet<string> = new Set([
  'content-length',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'accept-encoding',
]);

/**
 * Returns the fields that are sent to the broker with these parts. The answer to a replaced body is read here, so it
 * must not be encoded.
 */
export function headersFor(fields: string[], { replacement }: ForwardOverrides): string[] {
  if (replacement === undefined) return fields;
  const kept = fields.filter((_, at) => !BODY_FIELDS.has((fields[at - (at % 2)] ?? '').toLowerCase()));
  return [...kept, 'Accept-Encoding', 'identity'];
}

const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Fields of an answer that would be wrong for another body. */
const RESPONSE_BODY_FIELDS = /^(?:content-.*|etag|last-modified|location|digest|repr-digest|accept-ranges)$/i;

/** An answer that cannot be passed on: its transfer coding is unknown, or it is too large to buffer. */
export class UnusableReplyError extends Error {
  readonly code = 'UNUSABLE_REPLY';
}

/**
 * The buffered answer to a body that was sent in place of the client's. It is only sent, perhaps changed, after its
 * end.
 */
export class BufferedResponse {
  readonly #head: { readonly status: number; readonly statusMessage: string; readonly fields: string[] };
  readonly #other: NonNullable<ForwardOverrides['replacement']>['answer'];
  readonly #body = new ByteCollector();

  /** @param statusMessage must be valid in a status line */
  constructor(
    status: number,
    statusMessage: string,
    fields: string[],
    { answer }: NonNullable<ForwardOverrides['replacement']>,
  ) {
    this.#head = { status, statusMessage, fields };
    this.#other = answer;
  }

  /** @throws UnusableReplyError if the answer is too large to buffer */
  add(chunk: Buffer): void {
    this.#body.add(chunk);
    if (this.#body.length > MAX_BUFFERED_BYTES)
      throw new UnusableReplyError('The answer to a batch is too large.');
  }

  /** Writes head and body; the caller ends the response. */
  writeTo(res: ServerResponse): void {
    const { status, statusMessage, fields } = this.#head;
    const body = this.#body.concat();
    const other = this.#other(status, body.toString());
    if (other === undefined) {
      res.writeHead(status, statusMessage, fields);
      res.write(body);
      return;
    }
    const bytes = Buffer.from(other.body);
    const kept = fields.filter((_, at) => !RESPONSE_BODY_FIELDS.test(fields[at - (at % 2)] ?? ''));
    res.writeHead(other.status, [
      ...kept,
      'Content-Type',
      'application/json',
      'Content-Length',
      String(bytes.length),
    ]);
    res.write(bytes);
  }
}
