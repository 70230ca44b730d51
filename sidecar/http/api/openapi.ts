import { problemKinds } from '../problem-kinds.js';
import { derived } from './answer.js';
import { BODY_MEDIA_TYPES } from './body-parser.js';
import { endpoint, needsToken, problemsOf, type AnswerSchema, type Endpoint } from './endpoint.js';
import { CHANGE_REPORT } from './model-representation.js';
import { PATH_PARAMETERS, type ParametersSchema } from './parameters.js';
import { purgePaths } from './purge-operations.js';
import { API_PATH, apiUrl, type ApiRoute } from './routes.js';
import { COUNT, STRINGS, TEXT, type JsonSchema } from './schema-types.js';

/** The API itself. @param routes all of them, once the first request comes */
export function openapiEndpoint(routes: readonly ApiRoute[]): Endpoint {
  let description: ReturnType<typeof apiOpenApi> | undefined;
  return endpoint({
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenapi',
    tag: 'This API',
    summary: 'This API as OpenAPI 3.1',
    answers: {
      200: { description: 'Self-contained.', content: { 'application/json': { type: 'object' } } },
    },
    isCrossOrigin: true,
    isStatic: true,
    handle: async ({ baseUrl }) => {
      description ??= apiOpenApi(routes);
      const { paths, purgePaths, ...rest } = description;
      // They are beside the API, below the same base.
      const beside = Object.entries(purgePaths).map(([path, item]): [string, Part] => [
        path,
        { servers: [{ url: baseUrl }], ...item },
      ]);
      return derived({
        ...rest,
        servers: [{ url: apiUrl(baseUrl) }],
        paths: { ...paths, ...Object.fromEntries(beside) },
      });
    },
  });
}

/** A part of an OpenAPI document. */
type Part = Readonly<Record<string, unknown>>;

const INFO = {
  title: 'NGSI-LD gateway',
  version: '2.0.0',
  description:
    'Domains, models and their versions, JSON-LD contexts, the documents that schemas refer to, and purges. ' +
    'Every GET can be sent as HEAD. Every error is a problem (RFC 9457).',
};

const HEADERS: Readonly<Record<string, Part>> = {
  ETag: header('Changes whenever the answer does; for If-None-Match, and for If-Match of a write.'),
  CacheControl: header(
    'An answer for a given version may be cached; every other answer must be revalidated.',
  ),
  Location: header('Absolute URL of the new resource.'),
  PurgeId: header('The id of the record of the purge.'),
  Link: {
    ...header('Of a page of a list: the next page by rel="next", where there is one.'),
    required: false,
  },
  TotalCount: { ...header('Of a page of a list: items of the whole list.'), required: false },
  Allow: header('The methods that are allowed.'),
  RetryAfter: {
    ...header('Seconds after which to try again; not given for a purge that was cancelled.'),
    required: false,
  },
  WwwAuthenticate: header('GatewayToken'),
  Accept: header('Media types of bodies.'),
};

/** Headers of problems by status. */
const PROBLEM_HEADERS: Readonly<Record<number, Part>> = {
  401: { 'WWW-Authenticate': headerRef('WwwAuthenticate') },
  405: { Allow: headerRef('Allow') },
  415: { Accept: headerRef('Accept') },
  503: { 'Retry-After': headerRef('RetryAfter') },
};

/** The routes of the API as an OpenAPI 3.1 document without `servers`; `purgePaths` are for `paths`, with another server. */
function apiOpenApi(routes: readonly ApiRoute[]) {
  const components = new Components();
  const paths = new Map<string, Part>();
  for (const { method, url, endpoint } of routes) {
    // HEAD answers as GET does.
    if (method === 'HEAD') continue;
    const path = url.slice(API_PATH.length).replaceAll(/:(\w+)/g, '{$1}');
    const operation = operationOf(endpoint, components);
    paths.set(path, { ...paths.get(path), [method.toLowerCase()]: operation });
  }
  const tags = [...new Set(routes.map(({ endpoint }) => endpoint.tag))].map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info: INFO,
    tags,
    paths: Object.fromEntries(paths),
    purgePaths: purgePaths((schema) => components.use(schema), PROBLEM, headerRef('PurgeId')),
    components: {
      schemas: components.schemas,
      headers: HEADERS,
      securitySchemes: {
        GatewayToken: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Gateway-Token',
          description:
            'Writes, and reads of purges, need it where the service has a token; a gateway in front may add it.',
        },
      },
    },
  };
}

function operationOf(endpoint: Endpoint, components: Components): Part {
  const { method, id, tag, summary, description, body = endpoint.bodyText, upload } = endpoint;
  const content = body === undefined ? uploadContent(upload) : bodyContent(components.use(body));
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: [
      ...pathParameters(endpoint),
      ...queryParameters(endpoint.query),
      ...headerParameters(endpoint),
    ],
    ...(content === undefined ? {} : { requestBody: { required: true, content } }),
    responses: { ...answersOf(endpoint, components), ...problemResponses(endpoint, components) },
    ...(needsToken(method, endpoint) ? { security: [{ GatewayToken: [] }, {}] } : {}),
  };
}

function pathParameters({ path }: Endpoint): readonly Part[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => {
    const { description, ...schema } = PATH_PARAMETERS[name] ?? {};
    return { name, in: 'path', required: true, description, schema };
  });
}

function queryParameters({ properties, required = [] }: ParametersSchema = NO_PARAMETERS): readonly Part[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    schema,
  }));
}

const NO_PARAMETERS: ParametersSchema = { type: 'object', properties: {}, additionalProperties: false };

function headerParameters({ method, isConditional = false, isVolatile = false }: Endpoint): readonly Part[] {
  const names: readonly (readonly [string, string])[] = [
    ...(isConditional
      ? ([
          ['If-Match', 'ETags, one of which must be the current one; or *, for any.'],
          ['If-None-Match', '*: the resource must not exist.'],
        ] as const)
      : []),
    ...(method === 'GET' && !isVolatile
      ? ([['If-None-Match', 'ETags of the representations that the client has.']] as const)
      : []),
  ];
  return names.map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }));
}

function bodyContent(schema: JsonSchema): Readonly<Record<string, Part>> {
  return Object.fromEntries<Part>(BODY_MEDIA_TYPES.map((mediaType) => [mediaType, { schema }]));
}

function uploadContent(upload: Endpoint['upload']): Part | undefined {
  if (upload === undefined) return undefined;
  return Object.fromEntries<Part>(Object.entries(upload).map(([type, schema]) => [type, { schema }]));
}

function answersOf({ method, answers, isComputation, isVolatile }: Endpoint, components: Components): Part {
  const isCached = method === 'GET' && isVolatile !== true;
  const responses = Object.entries(answers).map(([status, answer]): [string, Part] => {
    const headers = {
      ...(answer.content === undefined
        ? {}
        : {
            ...(isComputation === true || isVolatile === true ? {} : { ETag: headerRef('ETag') }),
            'Cache-Control': headerRef('CacheControl'),
          }),
      ...(status === '201' || status === '202' ? { Location: headerRef('Location') } : {}),
      ...(answer.namesPurge === true ? { 'Purge-Id': headerRef('PurgeId') } : {}),
      ...(answer.isPage === true
        ? { Link: headerRef('Link'), 'X-Total-Count': headerRef('TotalCount') }
        : {}),
    };
    return [status, { description: answer.description, headers, ...contentOf(answer, components) }];
  });
  const unchanged = { description: 'Unchanged, by If-None-Match.', headers: { ETag: headerRef('ETag') } };
  return { ...Object.fromEntries<Part>(responses), ...(isCached ? { 304: unchanged } : {}) };
}

function contentOf({ content }: AnswerSchema, components: Components): Part {
  if (content === undefined) return {};
  const entries = Object.entries(content).map(([type, schema]): [string, Part] => [
    type,
    { schema: components.use(schema) },
  ]);
  return { content: Object.fromEntries<Part>(entries) };
}

/** One response for each status, with the types that its problem may have. */
function problemResponses(endpoint: Endpoint, components: Components): Part {
  const kinds = problemsOf(endpoint).map((name) => problemKinds[name]);
  const statuses = [...new Set(kinds.map(({ status }) => status))];
  const responses = statuses.map((status): [string, Part] => {
    const same = kinds.filter((kind) => kind.status === status);
    const types = { properties: { type: { enum: same.map(({ type }) => type) } } };
    const headers = PROBLEM_HEADERS[status];
    return [
      String(status),
      {
        description: same.map(({ title }) => title).join('; '),
        ...(headers === undefined ? {} : { headers }),
        content: { 'application/problem+json': { schema: { allOf: [components.use(PROBLEM), types] } } },
      },
    ];
  });
  return Object.fromEntries<Part>(responses);
}

function header(description: string): Part {
  return { description, required: true, schema: { type: 'string' } };
}

function headerRef(name: keyof typeof HEADERS): Part {
  return { $ref: `#/components/headers/${name}` };
}

/** RFC 9457, and the members that some kinds of problems add. */
const PROBLEM = {
  title: 'Problem',
  type: 'object',
  properties: {
    type: { type: 'string', format: 'uri' },
    title: TEXT,
    status: { type: 'integer' },
    detail: TEXT,
    instance: { type: 'string', format: 'uri-reference' },
    errors: {
      type: 'array',
      description: 'The faults of the body, with JSON pointers (RFC 6901).',
      items: {
        type: 'object',
        properties: { pointer: TEXT, detail: TEXT },
        required: ['pointer', 'detail'],
      },
    },
    line: { ...COUNT, description: 'Line of the first character that cannot be read, from 1.' },
    column: { ...COUNT, description: 'Column of it, from 1, in UTF-16 units.' },
    url: { ...TEXT, description: 'URL of the context at fault.' },
    parameter: { ...TEXT, description: 'The query parameter at fault.' },
    missing: { ...STRINGS, description: 'URIs of the missing documents.' },
    report: CHANGE_REPORT,
    dependents: {
      type: 'array',
      description: 'The first of the `total` resources that use this one.',
      items: { type: 'object' },
    },
    total: COUNT,
  },
  required: ['type', 'title', 'status', 'detail', 'instance'],
} as const;

/** Collects schemas that have a title as components of an OpenAPI document. */
class Components {
  readonly #schemas = new Map<string, JsonSchema>();

  /** The replacement of a schema: a reference to its component if it has a title, else the schema. */
  use(schema: JsonSchema): JsonSchema {
    const { title } = schema;
    const inner = Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#keyword(keyword, value)]),
    );
    if (typeof title !== 'string') return inner;
    this.#schemas.set(title, inner);
    return { $ref: `#/components/schemas/${title}` };
  }

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#schemas);
  }

  #keyword(keyword: string, value: unknown): unknown {
    switch (keyword) {
      case 'items':
        return this.use(value as JsonSchema);
      case 'oneOf':
        return (value as readonly JsonSchema[]).map((schema) => this.use(schema));
      case 'properties':
        return Object.fromEntries(
          Object.entries(value as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => [
            name,
            this.use(schema),
          ]),
        );
      default:
        return value;
    }
  }
}
