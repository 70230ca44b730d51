import { isUtf8 } from 'node:buffer';
import { type FastifyInstance, type FastifyRequest, errorCodes } from 'fastify';
import { UnreadableBodyError } from '../../schemas/models/index.js';
import { readJson } from '../../shared/json/strict-json.js';
import { exceededJsonLimit, type JsonLimits } from '../../shared/json/limits.js';
import { bodyMemoryBytes } from '../../shared/memory.js';
import { TurnQueue } from '../../shared/event-loop.js';
import { BodyMemory, collectBody } from '../collected-body.js';
import { refused, type RequestRefusedError } from '../refused.js';
import { SLOW_CLIENT } from '../forward-problem.js';

/** Media types of bodies: that of JSON in general, or a more specific one. */
export const BODY_MEDIA_TYPES = [
  'application/json',
  'application/ld+json',
  'application/schema+json',
  'application/geo+json',
] as const;

/**
 * Limits for a body that is parsed on the event loop. The limit for models is a tenth of this. The depth is checked
 * later.
 */
const JSON_LIMITS: JsonLimits = { elements: 100_000, depth: Infinity };

/** Parsing larger bodies takes some milliseconds or more, so they are parsed one at a time. */
const LARGE_BYTES = 64 * 1024;

/**
 * Makes the routes of a scope accept only JSON bodies. A route whose schema is a `TextOf` gets the text, any other
 * route the parsed value.
 *
 * @param bodyLimit of the route with the largest bodies, in bytes
 */
export function acceptJsonBodies(scope: FastifyInstance, bodyLimit: number): void {
  const large = new TurnQueue();
  const memory = new BodyMemory(bodyMemoryBytes(bodyLimit));
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...BODY_MEDIA_TYPES], async (request: FastifyRequest) => {
    requireUnencoded(request, BODY_MEDIA_TYPES);
    const body = await readBody(request, memory);
    const schema = request.routeOptions.schema?.body as object | undefined;
    // Some clients announce a body with every request.
    if (body.length === 0 && schema === undefined) return undefined;
    if (body.length > LARGE_BYTES) await large.nextTurn();
    if (schema !== undefined && 'contentSchema' in schema) return decodeBody(body);
    checkJsonLimits(body);
    return parseText(decodeBody(body));
  });
  scope.addContentTypeParser('*', (request, _payload, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    // `curl -d ''` sends the Content-Type of a form with an empty body.
    if (length === '0' && coding === undefined) {
      done(null, undefined);
      return;
    }
    done(mediaTypeRefused(request, BODY_MEDIA_TYPES));
  });
}

/** Creates the refusal of a body whose media type is missing or not one of these. */
export function mediaTypeRefused({ headers }: FastifyRequest, accepted: readonly string[]) {
  const isMissing = headers['content-type'] === undefined;
  const fault = isMissing ? 'The body has no Content-Type.' : 'The media type of the body is not supported.';
  return unsupported(`${fault} Send ${accepted.join(' or ')}.`, accepted);
}

function unsupported(detail: string, accepted: readonly string[]): RequestRefusedError {
  return refused('mediaTypeNotSupported', detail, {}, { accept: accepted.join(', ') });
}

/** @throws RequestRefusedError (415) */
export function requireUnencoded({ headers }: FastifyRequest, accepted: readonly string[]): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === 'identity') return;
  throw unsupported('Encoded bodies are not supported: send the body without Content-Encoding.', accepted);
}

/**
 * Decodes a body, and removes the byte order mark that some editors put before the text.
 *
 * @param body UTF-8 (RFC 8259 § 8.1)
 * @throws RequestRefusedError (400)
 */
export function decodeBody(body: Buffer): string {
  if (!isUtf8(body)) throw refused('invalidRequest', 'The body is not valid UTF-8.');
  const text = body.toString();
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** @throws RequestRefusedError (422) */
function checkJsonLimits(body: Buffer): void {
  const excess = exceededJsonLimit(body, JSON_LIMITS);
  if (excess !== undefined) throw refused('limitExceeded', `The body ${excess}.`);
}

/** @throws UnreadableBodyError with line and column */
function parseText(text: string): unknown {
  const read = readJson(text);
  if ('value' in read) return read.value;
  throw new UnreadableBodyError(read.unreadable);
}

/**
 * Reads the body of a request, up to the limit of its route.
 *
 * @param memory for all bodies that are being read, from which this one is counted until it is complete
 * @throws an error of Fastify (413), RequestRefusedError (400, 408, 503)
 */
export async function readBody(
  { raw, routeOptions: { bodyLimit } }: FastifyRequest,
  memory: BodyMemory,
): Promise<Buffer> {
  const body = await collectBody(raw, bodyLimit, memory);
  if (body === 'slow') throw refused('requestTimeout', SLOW_CLIENT);
  if (body === 'gone') throw refused('invalidRequest', 'The connection broke before the body was complete.');
  memory.release(body.bytes.length);
  if (body.isWhole) return body.bytes;
  if (body.why === 'large') throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  throw refused('busy', TOO_MANY_BODIES, {}, { 'retry-after': '1' });
}

const TOO_MANY_BODIES = 'Too many large request bodies are arriving right now. Try again later.';
