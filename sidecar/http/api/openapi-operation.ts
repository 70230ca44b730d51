import { Type } from 'typebox';
import { ruleOf } from '../../auth/index.js';
import type { ProblemKind } from '../../shared/errors.js';
import { problemKinds } from '../problem-kinds.js';
import { CHANGE_REPORT } from './model-representation.js';
import type { ApiRoute } from './routes.js';
import { COUNT, STRINGS, TEXT } from './schemas.js';

/** A part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>;

/** The headers of answers, as OpenAPI components. */
export const HEADERS = {
  ETag: header('Changes whenever the answer does; for If-None-Match, and for If-Match of a write.'),
  CacheControl: header('Always no-cache: a cached answer must be revalidated, which is cheap with its ETag.'),
  Location: header('Absolute URL of the new resource.'),
  PurgeId: header('The id of the record of the purge.'),
  Link: {
    ...header('Of a page of a list: the next page by rel="next", if there is one.'),
    required: false,
  },
  TotalCount: { ...header('Of a page of a list: items of the whole list.'), required: false },
  Allow: header('The methods that are allowed.'),
  RetryAfter: {
    ...header('Seconds after which to try again; not given for a purge that was cancelled.'),
    required: false,
  },
  WwwAuthenticate: header('GatewayToken, Bearer, or both; with the reason if an access token is refused.'),
  Accept: header('Media types of bodies.'),
} as const;

/** The headers of problems, by status. */
const PROBLEM_HEADERS: Readonly<Record<number, Part>> = {
  401: { 'WWW-Authenticate': referTo('WwwAuthenticate') },
  405: { Allow: referTo('Allow') },
  415: { Accept: referTo('Accept') },
  503: { 'Retry-After': referTo('RetryAfter') },
};

/** The members of an operation that are used here. */
interface Operation {
  readonly parameters?: readonly Part[];
  readonly responses?: Readonly<Record<string, Part>>;
}

/** Adds the headers, problems and security to an operation that follow from its route. */
export function describeOperation(operation: Operation, route: ApiRoute): Part {
  const { parameters = [], responses = {} } = operation;
  return {
    ...operation,
    parameters: [...parameters, ...headerParameters(route)],
    responses: { ...answersOf(route, responses), ...problemResponses(route) },
    ...securityOf(route),
  };
}

/** Depending on the configuration, a request needs one kind of token, the other, or none. */
function securityOf({ method, url }: ApiRoute): Part {
  const { needsToken, roles } = ruleOf(method, url);
  const schemes = [
    ...(needsToken ? [{ GatewayToken: [] }] : []),
    ...(roles === 'open' ? [] : [{ SignIn: [] }]),
  ];
  return schemes.length === 0 ? {} : { security: [...schemes, {}] };
}

function headerParameters({ method, config }: ApiRoute): readonly Part[] {
  const { isConditional = false, isVolatile = false } = config;
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
  return names.map(([name, description]) => ({ name, in: 'header', description, schema: TEXT }));
}

function answersOf({ method, schema, config }: ApiRoute, responses: Readonly<Record<string, Part>>): Part {
  const { isComputation = false, isVolatile = false, namesPurge = false } = config;
  const { properties: parameters = {} } = (schema.querystring ?? {}) as { readonly properties?: object };
  const isList = method === 'GET' && Object.hasOwn(parameters, 'limit');
  const described = Object.entries(responses).map(([status, response]): [string, Part] => {
    const hasBody = response['content'] !== undefined;
    const headers = {
      ...(hasBody && !isComputation && !isVolatile ? { ETag: referTo('ETag') } : {}),
      ...(hasBody ? { 'Cache-Control': referTo('CacheControl') } : {}),
      ...(status === '201' || status === '202' ? { Location: referTo('Location') } : {}),
      ...(namesPurge ? { 'Purge-Id': referTo('PurgeId') } : {}),
      ...(isList ? { Link: referTo('Link'), 'X-Total-Count': referTo('TotalCount') } : {}),
    };
    return [status, { ...response, headers }];
  });
  const unchanged = { description: 'Unchanged, by If-None-Match.', headers: { ETag: referTo('ETag') } };
  return { ...Object.fromEntries(described), ...(method === 'GET' && !isVolatile ? { 304: unchanged } : {}) };
}

/** Describes one response for each status, with the possible types of its problem. */
function problemResponses(route: ApiRoute): Part {
  const kinds = problemsOf(route).map((name) => problemKinds[name]);
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
        content: { 'application/problem+json': { schema: { allOf: [PROBLEM, types] } } },
      },
    ];
  });
  return Object.fromEntries(responses);
}

/**
 * Returns every kind of problem with which a route can answer: those that it lists, and those that follow from its
 * other members.
 */
function problemsOf({ method, url, schema, config }: ApiRoute): readonly ProblemKind[] {
  const { problems = [], isConditional = false, isStatic = false, upload } = config;
  const { body } = schema;
  const names: readonly ProblemKind[] = [
    // Unknown parameters are refused everywhere.
    'invalidRequest',
    ...refusalsOf(method, url),
    ...(url.includes(':') && !isStatic ? (['notFound'] as const) : []),
    ...(isConditional ? (['preconditionFailed'] as const) : []),
    ...(body !== undefined || upload !== undefined
      ? (['bodyTooLarge', 'mediaTypeNotSupported', 'limitExceeded'] as const)
      : []),
    // A body that may be any JSON document cannot be invalid.
    ...(typeof body === 'object' && body !== null && 'type' in body ? (['bodyInvalid'] as const) : []),
    ...problems,
    ...(isStatic ? [] : (['internalError', 'storeUnavailable'] as const)),
  ];
  return [...new Set(names)];
}

/** The problems for callers who may not use a route. */
function refusalsOf(method: string, url: string): readonly ProblemKind[] {
  const { roles, tenants } = ruleOf(method, url);
  if (roles === 'open') return [];
  return [
    ...(['unauthorized', 'tokenRefused', 'signInUnavailable'] as const),
    ...(roles.length === 0 ? [] : (['roleMissing'] as const)),
    ...(tenants.length === 0 ? [] : (['tenantRefused'] as const)),
  ];
}

function header(description: string): Part {
  return { description, required: true, schema: TEXT };
}

/** A reference to the component of a header. */
export function referTo(name: keyof typeof HEADERS): Part {
  return { $ref: `#/components/headers/${name}` };
}

/** A problem (RFC 9457), with the members that some kinds add. */
export const PROBLEM = Type.Object(
  {
    type: Type.String({ format: 'uri' }),
    title: TEXT,
    status: Type.Integer(),
    detail: TEXT,
    instance: Type.String({ format: 'uri-reference' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ pointer: TEXT, detail: TEXT }), {
        description: 'The faults of the body, with JSON pointers (RFC 6901).',
      }),
    ),
    line: Type.Optional({
      ...COUNT,
      description: 'Line of the first character that cannot be read, from 1.',
    }),
    column: Type.Optional({ ...COUNT, description: 'Column of it, from 1, in UTF-16 units.' }),
    url: Type.Optional({ ...TEXT, description: 'URL of the context at fault.' }),
    parameter: Type.Optional({ ...TEXT, description: 'The query parameter at fault.' }),
    missing: Type.Optional({ ...STRINGS, description: 'URIs of the missing documents.' }),
    report: Type.Optional(CHANGE_REPORT),
    dependents: Type.Optional(
      Type.Array(Type.Object({}), { description: 'The first of the `total` resources that use this one.' }),
    ),
    total: Type.Optional(COUNT),
  },
  { title: 'Problem' },
);
