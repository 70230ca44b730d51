import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { createGzip, gzip } from 'node:zlib';
import type { Lifecycle } from '../../schemas/models/index.js';
import type { Expected, IfMatch } from '../../store/index.js';
import { refused } from '../refused.js';
import { PURGE_ID_HEADER } from '../purge-routes.js';
import { prefers } from '../content-negotiation.js';

/** A successful answer, except for what depends on the headers of the request. */
export interface Answer {
  readonly status: 200 | 201 | 202 | 204;
  /** The ETag, without quotes. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Buffer; readonly mediaType: string };
  /** Replaces the body; see streamed(). */
  readonly stream?: { readonly text: AsyncIterable<string | Buffer> | Readable; readonly mediaType: string };
}

/** A document of the application, sent unchanged. */
interface Document {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly etag: string;
}

export const NO_CONTENT: Answer = { status: 204 };

/** Answers with one resource as JSON. */
export function ok(value: unknown, etag: string): Answer {
  return { status: 200, etag, body: jsonBody(value) };
}

/** Answers with the result of a computation. @param json the result as JSON text */
export function computed(json: string, mediaType = 'application/json'): Answer {
  return { status: 200, body: { bytes: Buffer.from(json), mediaType } };
}

/** Answers that work was accepted and continues in the background. @param url absolute URL of its resource */
export function accepted(url: string, value: unknown): Answer {
  return { status: 202, headers: { location: url }, body: jsonBody(value) };
}

/** Adds the header that names the record of a purge. */
export function withPurgeId(answer: Answer, id: string): Answer {
  return { ...answer, headers: { ...answer.headers, [PURGE_ID_HEADER]: id } };
}

/** The head of an answer; used for HEAD requests for which no body is generated. */
export function headResponse(mediaType: string): Answer {
  return { status: 200, body: { bytes: Buffer.of(), mediaType } };
}

/** The media type of JSON documents, one per line. */
export const NDJSON = 'application/x-ndjson';

/** Answers with text that is sent piece by piece, of unknown length. */
export function streamed(
  text: NonNullable<Answer['stream']>['text'],
  mediaType: string,
  headers: Answer['headers'] = {},
): Answer {
  return { status: 200, headers, stream: { text, mediaType } };
}

/** Answers with a momentary state, which has no ETag. */
export function okWithoutETag(value: unknown): Answer {
  return { status: 200, body: jsonBody(value) };
}

/** Answers with a new resource. @param url absolute */
export function created(url: string, value: unknown, etag: string): Answer {
  return { status: 201, etag, headers: { location: url }, body: jsonBody(value) };
}

/** Answers with something computed as a whole, such as a list. Its ETag is that of its bytes. */
export function okWithContentETag(value: unknown): Answer {
  const body = jsonBody(value);
  return { status: 200, etag: hashOf(body.bytes), body };
}

/** Answers with a stored document, or one generated from stored data. */
export function document({ bytes, mediaType, etag }: Document): Answer {
  return { status: 200, etag, body: { bytes, mediaType } };
}

/** The requested part of a list. */
interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Answers with one page of a list, with the total and a link to the next page (RFC 8288) if there is one.
 *
 * @param requested the part, and the filters of the list, which the link keeps
 * @param url absolute URL of the list, without a query
 */
export function page(
  items: readonly unknown[],
  total: number,
  { limit, offset, ...filters }: Page & Readonly<Record<string, string | number | boolean | undefined>>,
  url: string,
): Answer {
  const next = offset + items.length;
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) kept.set(name, String(value));
  const query = [...(kept.size === 0 ? [] : [kept.toString()]), `limit=${limit}&offset=${next}`].join('&');
  const hasNext = items.length > 0 && next < total;
  const headers = {
    'x-total-count': String(total),
    ...(hasNext ? { link: `<${url}?${query}>; rel="next"` } : {}),
  };
  const body = jsonBody(items);
  return { status: 200, etag: hashOf(body.bytes, String(total)), headers, body };
}

function jsonBody(value: unknown): NonNullable<Answer['body']> {
  return { bytes: Buffer.from(JSON.stringify(value)), mediaType: 'application/json' };
}

function hashOf(...parts: readonly (Buffer | string)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url').slice(0, 22);
}

/**
 * Adds to an answer about a model when the model was deprecated (RFC 9745) and when it will be removed (RFC 8594).
 *
 * @param lifecycle undefined if the answer is not about a model
 */
export function withLifecycle(answer: Answer, lifecycle: Lifecycle | undefined): Answer {
  if (lifecycle === undefined) return answer;
  const { deprecatedAt, sunsetAt } = lifecycle;
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...(deprecatedAt === undefined ? {} : { deprecation: `@${Math.floor(deprecatedAt / 1000)}` }),
      ...(sunsetAt === undefined ? {} : { sunset: new Date(sunsetAt).toUTCString() }),
    },
  };
}

/** Formats a time of the schema service for the API: RFC 3339, in UTC. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/**
 * The Cache-Control of every answer, including errors: clients revalidate each time, which is cheap with an ETag. This
 * also applies to versions, because the name of a deleted model may be used again, starting at version 1.
 */
export const REVALIDATE = 'no-cache';

/** Makes a handler that sends the answer which another one returns. */
export function answering(api: FastifyInstance, handler: RouteHandlerMethod): RouteHandlerMethod {
  return async (request, reply) => send(reply, (await handler.call(api, request, reply)) as Answer);
}

/** Sends an answer, or 304 if the client already has it (RFC 9110 § 13.1.2). */
function send(reply: FastifyReply, answer: Answer): FastifyReply {
  const { request } = reply;
  const { status, etag, headers, body } = answer;
  if (headers !== undefined) reply.headers(headers);
  if (body !== undefined) reply.header('vary', 'accept-encoding');
  if (etag !== undefined) {
    reply.header('etag', `"${etag}"`);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const known = request.headers['if-none-match'];
    if (isRead && known !== undefined && isNotModified(known, etag)) return reply.code(304).send();
  }
  reply.code(status);
  if (answer.stream !== undefined) return sendStream(reply, answer.stream);
  return body === undefined ? reply.send() : sendBody(reply, body);
}

function sendStream(reply: FastifyReply, { text, mediaType }: NonNullable<Answer['stream']>): FastifyReply {
  const { method, headers } = reply.request;
  reply.header('content-type', mediaType);
  const source = text instanceof Readable ? text : Readable.from(text);
  if (mediaType === NDJSON) reply.header('vary', 'accept-encoding');
  if (method === 'HEAD') {
    source.destroy();
    return reply.send();
  }
  // Events have to arrive one by one, and an export is compressed already.
  if (mediaType !== NDJSON || !prefers(headers['accept-encoding'], 'gzip', 'identity'))
    return reply.send(source);
  // If the source fails before anything was sent, the answer is a problem instead.
  source.once('error', () => {
    if (reply.raw.headersSent) return;
    reply.removeHeader('content-encoding');
    reply.raw.removeHeader('content-encoding');
  });
  return reply.header('content-encoding', 'gzip').send(pipeline(source, createGzip(), () => undefined));
}

/** Minimum size for compression, in bytes. Smaller answers fit into one packet uncompressed. */
const COMPRESSION_MIN_BYTES = 1400;

/**
 * Sends bytes rather than text, because Fastify adds a charset parameter to text, which these media types do not have.
 */
function sendBody(reply: FastifyReply, { bytes, mediaType }: NonNullable<Answer['body']>): FastifyReply {
  reply.header('content-type', mediaType);
  const { 'accept-encoding': accepted } = reply.request.headers;
  if (bytes.length < COMPRESSION_MIN_BYTES || !prefers(accepted, 'gzip', 'identity'))
    return reply.send(bytes);
  // Compresses in a thread of the Node.js pool, since a schema may be large.
  gzip(bytes, (error, packed) => {
    if (error === null) reply.header('content-encoding', 'gzip').send(packed);
    else reply.send(bytes);
  });
  return reply;
}

/** The state that a write expects (RFC 9110 § 13.1). */
export interface Preconditions {
  /** `If-Match`: ETags without quotes, one of which must match; undefined for no condition. */
  readonly ifMatch: readonly string[] | '*' | undefined;
  /** `If-None-Match: *`: the resource must not exist. */
  readonly ifNoneMatchAny: boolean;
}

const ENTITY_TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/;
const ENTITY_TAGS = new RegExp(`^\\s*(?:${ENTITY_TAG.source}\\s*(?:,\\s*|$))+$`);

/**
 * Reads the preconditions of a write.
 *
 * @throws RequestRefusedError (400) for anything but a list of ETags: a condition that is not understood could not be
 * enforced
 */
export function readPreconditions({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
}: IncomingHttpHeaders): Preconditions {
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*')
    throw refused('invalidRequest', 'In a write, the header If-None-Match must be *.');
  return {
    ifMatch: ifMatch === undefined ? undefined : entityTagsIn(ifMatch),
    ifNoneMatchAny: ifNoneMatch === '*',
  };
}

function entityTagsIn(header: string): readonly string[] | '*' {
  if (header === '*') return '*';
  if (!ENTITY_TAGS.test(header))
    throw refused('invalidRequest', 'The header If-Match must be * or a list of ETags in double quotes.');
  // An original ETag may also end like this.
  return [...new Set(entityTagsOf(header).flatMap((tag) => [tag, tag.replace(CODING_SUFFIX, '')]))];
}

/**
 * The suffix that proxies add to the ETag of an answer that they compress (Apache, Caddy, Jetty). Other proxies make
 * the ETag weak (nginx, HAProxy, Cloudflare). If-Match uses the strong comparison (RFC 9110 § 13.1.1), but every ETag
 * of the gateway identifies one exact state, so an ETag that a proxy changed still does.
 */
const CODING_SUFFIX = /(?:--?|;)(?:gzip|br|zstd|deflate)$/;

/** Whether the client of a read already has the current representation. @param etag without quotes */
export function isNotModified(header: string, etag: string): boolean {
  if (header === `"${etag}"` || header.trim() === '*') return true;
  return entityTagsOf(header).includes(etag);
}

/** Returns the ETags of a header, weak and strong, without quotes. */
function entityTagsOf(header: string): readonly string[] {
  return Array.from(header.matchAll(new RegExp(ENTITY_TAG, 'g')), ([, tag = '']) => tag);
}

/**
 * Returns the preconditions of a write to a resource that must exist.
 *
 * @param find rejects if the resource does not exist
 * @throws RequestRefusedError (412) for `If-None-Match: *` if it exists
 */
export async function preconditionsOfExisting(
  { ifMatch, ifNoneMatchAny }: Preconditions,
  find: () => Promise<unknown>,
): Promise<{ readonly ifMatch?: IfMatch }> {
  if (ifNoneMatchAny) {
    await find();
    throw refused(
      'preconditionFailed',
      'If-None-Match: * requires that the resource does not exist, but it does.',
    );
  }
  // These writes never create anything, so `If-Match: *` needs no check.
  return ifMatch === undefined || ifMatch === '*' ? {} : { ifMatch };
}

/**
 * Returns the state that a write expects of a resource that it may also create.
 *
 * @throws RequestRefusedError (412) for conditions that contradict each other
 */
export function expectedStateOf({ ifMatch, ifNoneMatchAny }: Preconditions): Expected {
  if (!ifNoneMatchAny) return ifMatch === '*' ? 'present' : ifMatch;
  if (ifMatch === undefined) return 'absent';
  throw refused('preconditionFailed', 'If-Match and If-None-Match: * cannot both hold.');
}
