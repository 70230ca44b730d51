import type { ServerResponse } from 'node:http';

/** What of an exchange is not as it came: somebody has looked at the request before. */
export interface ForwardedParts {
  /** As much of the body as was read; nothing else is to come if `isWhole`. */
  readonly body?: { readonly bytes: Buffer; readonly isWhole: boolean };
  /** Names and values of fields that the answer gets. */
  readonly answerFields?: readonly string[];
  /** A body to send instead of the one received, and how to change the answer to it; undefined leaves the answer as it is. */
  readonly instead?: {
    readonly body: Buffer;
    readonly answer: (
      status: number,
      body: string,
    ) => { readonly status: number; readonly body: string } | undefined;
  };
}

/** Fields that say something of the bytes of a body, or how the answer to it may be coded. */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-length',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'accept-encoding',
]);

/** The fields with which the parts go to the broker. What it answers to another body is read: it must not be coded. */
export function headersFor(fields: string[], { instead }: ForwardedParts): string[] {
  if (instead === undefined) return fields;
  const kept = fields.filter((_, at) => !OF_BODY.has((fields[at - (at % 2)] ?? '').toLowerCase()));
  return [...kept, 'Accept-Encoding', 'identity'];
}

/** Bytes of an answer that is held back. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Fields of an answer that do not hold for another body. */
const OF_ANSWER = /^(?:content-.*|etag|last-modified|location|digest|repr-digest|accept-ranges)$/i;

/** An answer that cannot be handed on: it is coded in an unknown way, or is too large to be held back. */
export class ReplyNotHttpError extends Error {
  readonly code = 'HPE_UNKNOWN_TRANSFER_CODING';
}

/** The answer to a body that was sent in place of the client's: it is not sent before its end, and then perhaps another one. */
export class HeldAnswer {
  readonly #head: { readonly status: number; readonly statusMessage: string; readonly fields: string[] };
  readonly #other: NonNullable<ForwardedParts['instead']>['answer'];
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param statusMessage as it may be written */
  constructor(
    status: number,
    statusMessage: string,
    fields: string[],
    { answer }: NonNullable<ForwardedParts['instead']>,
  ) {
    this.#head = { status, statusMessage, fields };
    this.#other = answer;
  }

  /** @throws ReplyNotHttpError for more than can be held */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HELD_BYTES) throw new ReplyNotHttpError('The answer to a batch is too large.');
  }

  /** Writes head and body; the caller ends the response. */
  writeTo(res: ServerResponse): void {
    const { status, statusMessage, fields } = this.#head;
    const body = Buffer.concat(this.#chunks);
    const other = this.#other(status, body.toString());
    if (other === undefined) {
      res.writeHead(status, statusMessage, fields);
      res.write(body);
      return;
    }
    const bytes = Buffer.from(other.body);
    const kept = fields.filter((_, at) => !OF_ANSWER.test(fields[at - (at % 2)] ?? ''));
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
