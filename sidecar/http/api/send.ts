import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from './answer.js';
import { isKnown } from './conditions.js';

/** To be asked for again each time, which an ETag makes cheap; the default of every answer, errors included. */
export const REVALIDATE = 'no-cache';

/** Kept a day without asking: not for ever, for a name that was deleted may be given again. */
const IMMUTABLE = 'public, max-age=86400, immutable';

/** Sends an answer, or 304 where the client has it already (RFC 9110 § 13.1.2). */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  const { status, etag, headers, body, isImmutable = false } = answer;
  if (headers !== undefined) reply.headers(headers);
  if (isImmutable) reply.header('cache-control', IMMUTABLE);
  if (etag !== undefined) {
    reply.header('etag', `"${etag}"`);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  }
  reply.code(status);
  // Bytes, because Fastify adds a charset parameter to text, which these media types do not have.
  return body === undefined ? reply.send() : reply.header('content-type', body.mediaType).send(body.bytes);
}
