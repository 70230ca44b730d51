import { Type } from 'typebox';
import { ruleOf } from '../../auth/index.js';
import { CHANGE_REPORT } from './model-representation.js';
import type { ApiRoute } from './routes.js';
import { COUNT, STRINGS, TEXT } from './schemas.js';

/** A part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>;

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
  RetryAfter: {
    ...header('Seconds after which to try again; not given for a purge that was cancelled.'),
    required: false,
  },
  WwwAuthenticate: header('GatewayToken, Bearer, or both; with the reason if an access token is refused.'),
} as const;

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
  const names: (readonly [string, string])[] = [];
  if (isConditional)
    names.push(
      ['If-Match', 'ETags, one of which must be the current one; or *, for any.'],
      ['If-None-Match', '*: the resource must not exist.'],
    );
  if (method === 'GET' && !isVolatile)
    names.push(['If-None-Match', 'ETags of the representations that the client has.']);
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

/**
 * Describes the problems that a client can expect because of the route, and one response for all others. Which types of
 * problems there are does not depend on the operation: docs/errors.md lists them.
 */
function problemResponses({ method, url, config }: ApiRoute): Part {
  const isOpen = ruleOf(method, url).roles === 'open';
  const hasName = url.includes(':') && method !== 'OPTIONS';
  return {
    ...(isOpen
      ? {}
      : {
          401: problem('The token is missing or not accepted.', {
            'WWW-Authenticate': referTo('WwwAuthenticate'),
          }),
        }),
    ...(hasName ? { 404: problem('There is no such resource.') } : {}),
    ...(config.isConditional === true ? { 412: problem('If-Match or If-None-Match does not hold.') } : {}),
    default: problem('Refused, or failed.', { 'Retry-After': referTo('RetryAfter') }),
  };
}

function problem(description: string, headers?: Part): Part {
  return {
    description,
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/problem+json': { schema: PROBLEM } },
  };
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
