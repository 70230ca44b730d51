import swagger from '@fastify/swagger';
import { Type } from 'typebox';
import { okWithContentETag } from './answer.js';
import { BODY_MEDIA_TYPES } from './body-parser.js';
import { describeOperation, HEADERS, PROBLEM, referTo } from './openapi-operation.js';
import { purgePaths } from './purge-operations.js';
import { content, json } from './schemas.js';
import { API_PATH, apiUrl, type Api, type ApiRoute } from './routes.js';

const INFO = {
  title: 'NGSI-LD gateway',
  version: '2.0.0',
  description:
    'Domains, models and their versions, JSON-LD contexts, the documents that schemas refer to, and purges. ' +
    'Every GET can be sent as HEAD. Every error is a problem (RFC 9457).',
};

const TOKEN = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Gateway-Token',
  description:
    'Writes, and reads of purges, need it if the service has a token; a gateway in front may add it.',
} as const;

const SIGN_IN = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'An access token of the OpenID provider, if the service has one: its roles say what is allowed.',
} as const;

/** Describes the routes that are registered after this call, using their schemas. */
export async function describeRoutes(api: Api): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: INFO,
      servers: [{ url: API_PATH }],
      components: { headers: HEADERS, securitySchemes: { GatewayToken: TOKEN, SignIn: SIGN_IN } },
      // Operations without a security of their own are open to all. Linters want that to be said.
      security: [],
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      const { body, ...others } = schema;
      if (route.config?.upload !== undefined)
        return { url, schema: { ...others, body: content('', route.config.upload) } };
      if (body === undefined) return { url, schema };
      const { contentSchema = body } = body as { readonly contentSchema?: unknown };
      return { url, schema: { ...others, body: contentSchema, consumes: BODY_MEDIA_TYPES } };
    },
  });
}

/** The route of the API's own description. @param routes complete by the time of the first request */
export function openapiRoute(api: Api, routes: readonly ApiRoute[]): void {
  let description: ReturnType<typeof describe> | undefined;
  api.get('/openapi.json', {
    schema: {
      tags: ['This API'],
      operationId: 'getOpenapi',
      summary: 'This API as OpenAPI 3.1',
      response: { 200: json('Self-contained.', Type.Object({})) },
    },
    config: { isCrossOrigin: true },
    handler: async ({ baseUrl }) => {
      description ??= describe(api.swagger(), routes);
      const { paths, purges, ...rest } = description;
      // The purge routes are not below the path of the API, but have the same base.
      const beside = Object.entries(purges).map(([path, item]): [string, object] => [
        path,
        { servers: [{ url: baseUrl }], ...item },
      ]);
      const all = { ...paths, ...Object.fromEntries(beside) };
      return okWithContentETag({ ...rest, servers: [{ url: apiUrl(baseUrl) }], paths: all });
    },
  });
}

/** The members of the document from `@fastify/swagger` that are used here. */
interface Described {
  readonly paths?: Readonly<Record<string, object | undefined>>;
  readonly components?: object;
}

/**
 * Completes the document from `@fastify/swagger` with the headers, problems and security of each operation, and with
 * the purge routes.
 *
 * @param routes of the API
 */
function describe({ paths: described = {}, ...document }: Described, routes: readonly ApiRoute[]) {
  const schemas = new Map<string, object>();
  const paths: Record<string, object> = {};
  // HEAD requests are answered like GET.
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const path = route.url.slice(API_PATH.length).replaceAll(/:(\w+)/g, '{$1}');
    const method = route.method.toLowerCase();
    const operations: Readonly<Record<string, object>> = { ...described[path] };
    const operation = describeOperation(operations[method] ?? {}, route);
    paths[path] = { ...paths[path], [method]: named(operation, schemas) };
  }
  const purges = Object.entries(purgePaths(PROBLEM, referTo('PurgeId'))).map(
    ([path, item]): [string, object] => [path, named(item, schemas)],
  );
  return {
    ...document,
    paths,
    purges: Object.fromEntries(purges),
    tags: [...new Set(routes.flatMap(({ schema }) => schema.tags ?? []))].map((name) => ({ name })),
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  };
}

/** Replaces each schema that has a title by a reference, and adds it to the components under that title. */
function named(part: object, schemas: Map<string, object>): object {
  const inner: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, namedIn(value, schemas)]),
  );
  if (typeof inner['title'] !== 'string') return inner;
  schemas.set(inner['title'], inner);
  return { $ref: `#/components/schemas/${inner['title']}` };
}

function namedIn(value: unknown, schemas: Map<string, object>): unknown {
  if (Array.isArray(value)) return value.map((item) => namedIn(item, schemas));
  return typeof value === 'object' && value !== null ? named(value, schemas) : value;
}
