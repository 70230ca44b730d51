import type {
  FastifyContextConfig,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onSendHookHandler,
  preHandlerHookHandler,
  preValidationHookHandler,
} from 'fastify';
import type { IncomingMessage } from 'node:http';
import { parsePurgePolicy, POLICY_HEADER } from '../new-purge.js';
import { refused } from '../refused.js';
import { SAFE_METHODS } from '../request-checks.js';
import { instanceOf } from '../request-log.js';
import type { Access } from '../access.js';
import { type Answer, REVALIDATE, readPreconditions } from './answer.js';
import { empty } from './schemas.js';
import { type Api, API_PATH, type ApiRoute } from './routes.js';

const HEADERS = { 'cache-control': REVALIDATE, 'x-content-type-options': 'nosniff' };

/** Headers of reads that scripts on any web page may send (the Fetch standard, § 3.2). */
const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Link',
};

/**
 * Refuses requests that their caller may not send, and paths that do not spell the route exactly, before a body is
 * read.
 */
export function authorizationHook(access: Access): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const { config, url = '' } = request.routeOptions;
    reply.headers(HEADERS);
    await access.admit(request);
    if (config.isCrossOrigin === true) reply.headers(CROSS_ORIGIN_HEADERS);
    const path = pathOf(request);
    if (request.is404) return;
    if (!matches(url, path)) throw notFoundError(path, request.method, []);
    if (isWrite(request.method, config)) requireDryRun(request);
  };
}

/** Refuses a write of a caller whose policy allows dry runs only. @throws RequestRefusedError */
function requireDryRun({ headers, query, routeOptions: { config } }: FastifyRequest): void {
  const { dryRun } = query as { readonly dryRun?: unknown };
  // A route that has no dry runs refuses the parameter.
  if (config.isForDryRuns === true || dryRun === 'true') return;
  const policy = headers[POLICY_HEADER];
  if (policy === undefined || parsePurgePolicy(policy).dryRunOnly !== true) return;
  throw refused(
    'forbiddenByPolicy',
    'The policy of this gateway allows dry runs only, so this request may change nothing.',
  );
}

/** Refuses requests that lack a required body, or have one that would be ignored. */
export const bodyPresenceHook: preValidationHookHandler = (request, _reply, done) => {
  const { schema, config } = request.routeOptions;
  const [isWanted, isThere] = [schema?.body !== undefined, request.body !== undefined];
  if (isWanted && !isThere)
    throw refused('invalidRequest', 'This request requires a JSON body with a Content-Type.');
  // The handler of an upload checks the body itself.
  if (!isWanted && isThere && config.upload === undefined && !request.is404)
    throw refused('invalidRequest', 'This request does not take a body.');
  done();
};

const NO_PRECONDITIONS = { ifMatch: undefined, ifNoneMatchAny: false } as const;

/** Reads the preconditions and the base URL of a request for its handler. */
export function preconditionsHook(baseUrlOf: BaseUrlOf): preHandlerHookHandler {
  return (request, _reply, done) => {
    if (!request.is404) {
      const { config } = request.routeOptions;
      request.conditions = isWrite(request.method, config)
        ? readPreconditions(request.headers)
        : NO_PRECONDITIONS;
      request.baseUrl = baseUrlOf(request.raw);
    }
    done();
  };
}

/** Calls `onWritten` before the answer to each request that may have changed something. */
export function writeNotificationHook(onWritten: () => void): onSendHookHandler {
  return (request, _reply, payload, done) => {
    if (isWrite(request.method, request.routeOptions.config)) onWritten();
    done(null, payload);
  };
}

/** Refuses requests that match no route. */
export function notFoundHandler(routes: readonly ApiRoute[]): (request: FastifyRequest) => never {
  return (request) => {
    throw notFoundError(pathOf(request), request.method, routes);
  };
}

/** The refusal of a raw path that matches no route, or no route with this method. */
function notFoundError(rawPath: string, method: string, routes: readonly ApiRoute[]) {
  const path = instanceOf(rawPath);
  const allowed = allowedMethods(routes, rawPath);
  if (allowed.length === 0) {
    const detail = `There is no resource at ${path}; ${API_PATH}/openapi.json lists all paths.`;
    return refused('notFound', detail);
  }
  const detail = `${method} is not allowed on ${path}: use ${allowed.join(' or ')}.`;
  return refused('methodNotAllowed', detail, {}, { allow: allowed.join(', ') });
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

/** Whether a request may change something. */
function isWrite(method: string, { isComputation = false }: FastifyContextConfig): boolean {
  return !isComputation && !SAFE_METHODS.has(method);
}

/** The methods of the routes that match a path. */
function allowedMethods(
  routes: readonly Pick<ApiRoute, 'method' | 'url'>[],
  path: string,
): readonly string[] {
  const methods = routes.filter(({ url }) => matches(url, path)).map(({ method }) => method);
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) =>
    methods.includes(method),
  );
}

/**
 * Whether a raw path spells a route exactly: its fixed segments byte for byte, and each parameter as one segment that
 * is not empty. Routers decode before they compare, but a path must mean here what other servers on the way took it
 * for.
 *
 * @param url of the route, with `:name` parameters
 */
function matches(url: string, rawPath: string): boolean {
  const [segments, given] = [url.split('/'), rawPath.split('/')];
  return (
    segments.length === given.length &&
    segments.every((segment, index) =>
      segment.startsWith(':') ? isParameter(given[index] ?? '') : segment === given[index],
    )
  );
}

/**
 * Whether a segment can be a name: not a dot segment, and without characters that some servers treat as a separator.
 */
function isParameter(segment: string): boolean {
  return segment !== '' && !NOT_A_NAME.test(segment);
}

const NOT_A_NAME = /^(?:\.|%2e){1,2}$|%2f|%5c|[\\#;]/i;

const PREFLIGHT_HEADERS = {
  allow: 'GET, HEAD, OPTIONS',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
};

/** Handles the OPTIONS request that browsers send before a cross-origin read with extra headers, e.g. If-None-Match. */
export function handlePreflight(api: Api, { url, schema }: ApiRoute): void {
  api.options(url.slice(API_PATH.length), {
    schema: {
      ...(schema.params === undefined ? {} : { params: schema.params }),
      tags: schema.tags ?? [],
      operationId: `${schema.operationId}Preflight`,
      summary: 'Reads that scripts of other origins may send (CORS)',
      response: { 204: empty('GET and HEAD, with any headers.') },
    },
    config: { isCrossOrigin: true },
    handler: async () => ({ status: 204, headers: PREFLIGHT_HEADERS }) satisfies Answer,
  });
}

/** Returns the URL under which the client of a request reaches this service, without a trailing slash. */
export type BaseUrlOf = (request: IncomingMessage) => string;

/** Host and port of a URL (RFC 3986 § 3.2.2), limited to the characters of network host names. */
const AUTHORITY = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Determines the base of links: the configured URL, or that of the request's `Host`. `X-Forwarded-*` fields do not
 * count: any client can send them, and caches that ignore these fields would keep the links.
 *
 * @returns a function that throws RequestRefusedError (400) for a `Host` that is not a host name
 */
export function createBaseUrl(publicUrl: URL | undefined): BaseUrlOf {
  if (publicUrl !== undefined) {
    const base = publicUrl.href.replace(/\/+$/, '');
    return () => base;
  }
  // Nearly all requests have the same Host.
  let lastHost: string | undefined;
  return ({ headers: { host }, socket }) => {
    // HTTP/1.0 allows requests without a Host.
    if (host === undefined || host === '') return `http://${ownAuthority(socket)}`;
    if (host !== lastHost && (!AUTHORITY.test(host) || URL.parse(`http://${host}`) === null))
      throw refused(
        'invalidRequest',
        'The header Host must be a host name or an IP address, with or without a port.',
      );
    lastHost = host;
    return `http://${host}`;
  };
}

function ownAuthority({ localAddress = '127.0.0.1', localPort = 80 }: IncomingMessage['socket']): string {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
