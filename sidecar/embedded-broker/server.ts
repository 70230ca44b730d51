import { CONTEXT_RELATION } from '../ngsi-ld/context-link.js';
import { ByteCollector } from '../shared/byte-collector.js';
import { type JsonValue, isObject, itemsOf } from '../shared/json/json.js';
import { parseWithDoubles } from '../shared/json/lossless-json.js';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { FaultKind } from './behaviour.js';
import type { BrokerContext, BrokerRequest, BrokerResponse } from './exchange.js';
import { CORE_CONTEXT } from './model.js';
import { Refusal, refusals } from './refusal.js';
import type { RequestLog } from './request-log.js';
import { routeRequest } from './router.js';

/** Long enough for a purge query with the longest q and many ids in its URL. */
const MAX_HEADER_BYTES = 512 * 1024;
const CORE_CONTEXT_LINK = `<${CORE_CONTEXT}>; rel="${CONTEXT_RELATION}"; type="application/ld+json"`;

/** Both are in use; if both are sent, the standard's own header wins. */
const TENANT_HEADERS = ['ngsild-tenant', 'fiware-service'] as const;

/** Creates the HTTP server of a broker; it is not listening yet. */
export function createBrokerServer(context: BrokerContext, log: RequestLog): Server {
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (incoming, outgoing) => {
    // An unexpected error ends only this connection, not the process.
    serve(incoming, outgoing, context, log).catch(() => outgoing.destroy());
  });
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  context: BrokerContext,
  log: RequestLog,
): Promise<void> {
  const { behaviour, chance, clock, limits } = context;
  const { method = '', url = '/', headers } = incoming;
  const [path = '', search = ''] = splitOnce(url, '?');
  const tenant = TENANT_HEADERS.filter((name) => !behaviour.ignoreTenantHeaders.includes(name))
    .map((name) => headers[name])
    .find((value) => value !== undefined);
  const request: BrokerRequest = {
    method,
    path,
    search,
    headers,
    tenant: typeof tenant === 'string' ? tenant : undefined,
    segments: [],
    body: () => readBody(incoming, limits.maxBodyBytes),
  };
  let route = path;
  const finish = (response: BrokerResponse | undefined) => {
    log.add({ method, path, route, search, headers, status: response?.status ?? 0, items: request.items });
    if (response === undefined) incoming.socket.resetAndDestroy();
    else send(outgoing, request, response);
  };

  const fault = chance.nextFault({ method, path });
  try {
    if (behaviour.latencyMs > 0) await clock.sleep(behaviour.latencyMs);
    if (fault === 'reset-before') {
      finish(undefined);
      return;
    }
    throwFault(fault, behaviour.retryAfter);
    const routed = routeRequest(method, path);
    ({ route } = routed);
    negotiate(headers.accept);
    const response = await routed.handler(Object.assign(request, { segments: routed.segments }), context);
    finish(fault === 'reset-after' ? undefined : response);
  } catch (error) {
    finish(fault === 'reset-after' ? undefined : problemResponse(error));
  }
}

function splitOnce(text: string, sign: string): readonly string[] {
  const at = text.indexOf(sign);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function throwFault(fault: FaultKind | undefined, retryAfter: string): void {
  switch (fault) {
    case '429':
      throw refusals.tooManyRequests('Slow down');
    case '429-retry-after':
      throw refusals.tooManyRequests('Slow down', { 'Retry-After': retryAfter });
    case '500':
      throw refusals.internal('Told to fail');
    case '503':
      throw refusals.unavailable('Told to fail');
    case 'reset-before':
    case 'reset-after':
    case undefined:
      return;
  }
}

/** Chooses one of the two JSON media types for an answer (clause 6.3.4); plain JSON if both are accepted. @throws Refusal 406 */
function negotiate(accept: string | undefined): 'application/json' | 'application/ld+json' {
  const ranges = (accept ?? '*/*')
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  if (['*/*', 'application/*', 'application/json'].some((range) => ranges.includes(range)))
    return 'application/json';
  if (ranges.includes('application/ld+json')) return 'application/ld+json';
  throw refusals.notAcceptable('Only application/json and application/ld+json are available');
}

function problemResponse(error: unknown): BrokerResponse {
  const refusal = error instanceof Refusal ? error : refusals.internal('The embedded broker failed');
  return { status: refusal.problem.status, headers: refusal.headers, body: refusal.problem };
}

function send(outgoing: ServerResponse, request: BrokerRequest, response: BrokerResponse): void {
  if (outgoing.destroyed) return;
  const { Link: links = [], ...headers } = response.headers ?? {};
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (request.tenant !== undefined) outgoing.setHeader('NGSILD-Tenant', request.tenant);
  outgoing.statusCode = response.status;

  // Problems are sent as application/json too: clause 5.5.3 requires it, and real brokers do it.
  const isResult = response.status === 200 || response.status === 206;
  const isPlain = !isResult || negotiate(request.headers.accept) === 'application/json';
  const contextLink = isResult && isPlain ? [CORE_CONTEXT_LINK] : [];
  const linkValues = [...(typeof links === 'string' ? [links] : links), ...contextLink];
  if (linkValues.length > 0) outgoing.setHeader('Link', linkValues);
  if (response.body === undefined) {
    outgoing.end();
    return;
  }
  const text = JSON.stringify(isPlain ? response.body : withContext(response.body));
  outgoing.setHeader('Content-Type', isPlain ? 'application/json' : 'application/ld+json');
  outgoing.setHeader('Content-Length', Buffer.byteLength(text));
  outgoing.end(text);
}

/** Adds the @context to each entity, as JSON-LD requires. */
function withContext(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withContext);
  return isObject(body) ? { ...body, '@context': CORE_CONTEXT } : body;
}

const MAX_NESTING = 200;

/**
 * Reads a JSON body and checks that its @context is where it may be (ETSI GS CIM 009 V1.9.1, clauses 6.3.4 and 6.3.5).
 *
 * @throws Refusal 400, 413, 415
 */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<JsonValue> {
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
  const bytes = new ByteCollector();
  // Keep the connection open if the body is too long: the refusal is sent over it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes.add(chunk);
    if (bytes.length > maxBytes) throw tooLarge();
  }
  return bytes.concat().toString('utf8');
}

function parseJson(text: string): JsonValue {
  if (nestsTooDeep(text))
    throw refusals.invalidRequest(`JSON may be nested at most ${MAX_NESTING} levels deep`);
  try {
    return parseWithDoubles(text) as JsonValue;
  } catch {
    throw refusals.invalidRequest('The body is not valid JSON');
  }
}

/** Checks the nesting before parsing, so that later recursion cannot overflow the stack. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}

function checkContext(body: JsonValue, isLd: boolean, link: string): void {
  const hasLink = link.includes(CONTEXT_RELATION);
  for (const item of itemsOf(body)) {
    const hasContext = isObject(item) && Object.hasOwn(item, '@context');
    if (hasContext && !isLd)
      throw refusals.badRequest('@context in a body needs Content-Type application/ld+json');
    if (isObject(item) && isLd && !hasContext)
      throw refusals.badRequest('application/ld+json needs an @context');
  }
  if (isLd && hasLink)
    throw refusals.badRequest('With application/ld+json, @context belongs in the body, not in Link');
}
