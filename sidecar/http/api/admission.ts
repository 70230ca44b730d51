import type { onRequestHookHandler, preValidationHookHandler } from 'fastify';
import { refused } from '../errors.js';
import { instanceOf } from '../forward-problem.js';
import { TOKEN_HEADER, type TokenCheck } from '../gateway-token.js';
import { REVALIDATE } from './answer.js';
import { endpoint, needsToken, type Endpoint } from './endpoint.js';
import { allowedMethods, API_PATH, spells, type ApiRoute } from './routes.js';

const HEADERS = { 'cache-control': REVALIDATE, 'x-content-type-options': 'nosniff' };

/** Refuses every write without the token before its body is read. */
export function admission(checkToken: TokenCheck): onRequestHookHandler {
  return (request, reply, done) => {
    reply.headers(HEADERS);
    if (needsToken(request.method, request.routeOptions.config.endpoint))
      checkToken(request.headers[TOKEN_HEADER]);
    done();
  };
}

/** Refuses paths that do not spell the route exactly. */
export function exactPath({ path, isCrossOrigin }: Endpoint): onRequestHookHandler {
  const segments = `${API_PATH}${path}`.split('/');
  return (request, reply, done) => {
    if (isCrossOrigin === true) reply.headers(CROSS_ORIGIN_HEADERS);
    const [given = ''] = request.url.split('?', 1);
    if (!spells(segments, given)) throw nothingAt(given, request.method, []);
    done();
  };
}

/** Refuses requests that lack a required body, or have one that would be ignored. */
export function bodyPresence({ body, bodyText, upload }: Endpoint): preValidationHookHandler {
  const isWanted = body !== undefined || bodyText !== undefined;
  return (request, _reply, done) => {
    // Its handler looks for it.
    if (upload !== undefined) {
      done();
      return;
    }
    if (!isWanted && request.body !== undefined)
      throw refused('invalidRequest', 'This request takes no body: leave it out.');
    if (isWanted && request.body === undefined)
      throw refused('invalidRequest', 'This request needs a JSON body with a Content-Type.');
    done();
  };
}

/** The refusal of a raw path that matches no route, or none with this method. */
export function nothingAt(rawPath: string, method: string, routes: readonly ApiRoute[]) {
  const path = instanceOf(rawPath);
  const allowed = allowedMethods(routes, rawPath);
  if (allowed.length === 0) {
    const detail = `There is no resource at ${path}; ${API_PATH}/openapi.json lists all paths.`;
    return refused('notFound', detail);
  }
  const detail = `${method} is not allowed on ${path}: use ${allowed.join(' or ')}.`;
  return refused('methodNotAllowed', detail, {}, { allow: allowed.join(', ') });
}

/** Headers of reads that scripts of any web page may send (the Fetch standard, § 3.2). */
export const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Link',
} as const;

const PREFLIGHT_HEADERS = {
  allow: 'GET, HEAD, OPTIONS',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
} as const;

/** The OPTIONS that browsers send ahead of a read of another origin with headers of its own, e.g. If-None-Match. */
export function preflight({ path, id, tag }: Endpoint): Endpoint {
  return endpoint({
    method: 'OPTIONS',
    path,
    id: `${id}Preflight`,
    tag,
    summary: 'Reads that scripts of other origins may send (CORS)',
    answers: { 204: { description: 'GET and HEAD, with any headers.' } },
    isCrossOrigin: true,
    isStatic: true,
    handle: async () => ({ status: 204, headers: PREFLIGHT_HEADERS }),
  });
}
