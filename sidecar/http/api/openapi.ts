import swagger from '@fastify/swagger';
import { Type } from 'typebox';
import { derived, send } from './answer.js';
import { BODY_MEDIA_TYPES } from './body-parser.js';
import { describeOperation, HEADERS, PROBLEM, referTo, type Part } from './openapi-operation.js';
import { purgePaths } from './purge-operations.js';
import { content } from './responses.js';
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
    'Writes, and reads of purges, need it where the service has a token; a gateway in front may add it.',
} as const;

/** Has the routes that come after it described. Their schemas are the source of everything; the rest follows from it. */
export async function describeRoutes(api: Api): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: INFO,
      servers: [{ url: API_PATH }],
      components: { securitySchemes: { GatewayToken: TOKEN } },
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

/** The API itself. @param routes all of them, once the first request comes */
export function openapiRoute(api: Api, routes: readonly ApiRoute[]): void {
  let description: Description | undefined;
  api.get(
    '/openapi.json',
    {
      schema: {
        ...{ tags: ['This API'], operationId: 'getOpenapi', summary: 'This API as OpenAPI 3.1' },
        response: { 200: content('Self-contained.', { 'application/json': Type.Object({}) }) },
      },
      config: { isCrossOrigin: true, isStatic: true },
    },
    async ({ baseUrl }, reply) => {
      description ??= describe(api.swagger(), routes);
      const { paths, purgePaths, ...rest } = description;
      // They are beside the API, below the same base.
      const beside = Object.entries(purgePaths).map(([path, item]): [string, Part] => [
        path,
        { servers: [{ url: baseUrl }], ...item },
      ]);
      const all = { ...paths, ...Object.fromEntries(beside) };
      return send(reply, derived({ ...rest, servers: [{ url: apiUrl(baseUrl) }], paths: all }));
    },
  );
}

/** An OpenAPI document; `purgePaths` are for `paths`, with another server. */
interface Description {
  readonly paths: Part;
  readonly purgePaths: Readonly<Record<string, Part>>;
  readonly components: Part;
}

/** What `@fastify/swagger` says of the routes, with the headers and problems of their answers. */
function describe(
  { paths = {}, ...document }: { readonly paths?: Readonly<Record<string, object | undefined>> },
  routes: readonly ApiRoute[],
): Description {
  const components = new Map<string, Part>();
  const operations = new Map<string, Part>();
  // HEAD answers as GET does.
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const path = route.url.slice(API_PATH.length).replaceAll(/:(\w+)/g, '{$1}');
    const method = route.method.toLowerCase();
    const described: Readonly<Record<string, Part>> = { ...paths[path] };
    const operation = describeOperation(described[method] ?? {}, route);
    operations.set(path, { ...operations.get(path), [method]: named(operation, components) });
  }
  const tags = [...new Set(routes.flatMap(({ schema }) => schema.tags ?? []))].map((name) => ({ name }));
  const beside = purgePaths(PROBLEM, referTo('PurgeId'));
  const described = {
    ...{ tags, paths: Object.fromEntries(operations) },
    purgePaths: Object.fromEntries(
      Object.entries(beside).map(([path, item]) => [path, named(item, components)]),
    ),
  };
  return {
    ...document,
    ...described,
    components: {
      schemas: Object.fromEntries(components),
      headers: HEADERS,
      securitySchemes: { GatewayToken: TOKEN },
    },
  };
}

/** A part with references in place of the schemas that have a title, which become components by it. */
function named(part: Part, components: Map<string, Part>): Part {
  const inner = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, namedIn(value, components)]),
  );
  const { title } = inner;
  if (typeof title !== 'string') return inner;
  components.set(title, inner);
  return { $ref: `#/components/schemas/${title}` };
}

function namedIn(value: unknown, components: Map<string, Part>): unknown {
  if (Array.isArray(value)) return value.map((item) => namedIn(item, components));
  return typeof value === 'object' && value !== null ? named({ ...value }, components) : value;
}
