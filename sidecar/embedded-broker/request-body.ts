import type { IncomingMessage } from 'node:http';
import { isJsonObject, itemsOf } from './model.js';
import type { Json } from './model.js';
import { CONTEXT_LINK_RELATION } from './names.js';
import { refusals } from './refusal.js';

const DEEPEST_NESTING = 200;

/**
 * Reads a JSON body and checks where its @context may stand (ETSI GS CIM 009 V1.9.1, clauses 6.3.4 and 6.3.5).
 *
 * @throws Refusal 400, 413, 415
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Json> {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isLd = mediaType === 'application/ld+json';
  const isMergePatch = mediaType === 'application/merge-patch+json' && request.method === 'PATCH';
  if (!isLd && !isMergePatch && mediaType !== 'application/json') {
    throw refusals.unsupportedMediaType('Send application/json or application/ld+json');
  }
  const body = parseJson(await readText(request, maxBytes));
  checkContext(body, isLd, String(request.headers.link));
  return body;
}

async function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLarge = () => refusals.tooLarge(`The body must not have more than ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Left open when it is too long: the refusal still goes out over the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): Json {
  if (nestsTooDeep(text)) throw refusals.invalidRequest(`JSON nests at most ${DEEPEST_NESTING} levels`);
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw refusals.invalidRequest('The body is no JSON');
  }
}

/** Looked at before parsing, so that no later recursion can run out of stack. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}

function checkContext(body: Json, isLd: boolean, link: string): void {
  const hasLink = link.includes(CONTEXT_LINK_RELATION);
  for (const item of itemsOf(body)) {
    const hasContext = isJsonObject(item) && Object.hasOwn(item, '@context');
    if (hasContext && !isLd)
      throw refusals.badRequest('@context in a body needs Content-Type application/ld+json');
    if (isJsonObject(item) && isLd && !hasContext)
      throw refusals.badRequest('application/ld+json needs an @context');
  }
  if (isLd && hasLink)
    throw refusals.badRequest('application/ld+json has its @context in the body, not in Link');
}
