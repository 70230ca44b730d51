import { batchCreate, batchDelete, batchUpdate, batchUpsert } from './batch-handlers.js';
import {
  appendAttributes,
  createEntity,
  deleteAttribute,
  deleteEntity,
  mergeEntity,
  patchAttribute,
  replaceEntity,
  retrieveEntity,
  updateAttributes,
} from './entity-handlers.js';
import type { Handler } from './exchange.js';
import { describeBroker, listAttributes, listTypes, queryEntities } from './query-handler.js';
import { refusals } from './refusal.js';
import {
  addTemporalAttributes,
  deleteInstance,
  deleteTemporalAttribute,
  deleteTemporalEntity,
  putTemporalEntity,
  replaceInstance,
  temporal,
} from './temporal-handlers.js';
import { queryTemporalEntities, retrieveTemporalEntity } from './temporal-query-handler.js';

const ROOT = '/ngsi-ld/v1';

/** All routes. Collections have no DELETE, because deleting by query is the gateway's job. */
const ROUTES: readonly { readonly path: string; readonly handlers: Readonly<Record<string, Handler>> }[] = [
  { path: '/', handlers: { GET: describeBroker } },
  { path: `${ROOT}/entities`, handlers: { GET: queryEntities, POST: createEntity } },
  {
    path: `${ROOT}/entities/{id}`,
    handlers: { GET: retrieveEntity, PUT: replaceEntity, PATCH: mergeEntity, DELETE: deleteEntity },
  },
  { path: `${ROOT}/entities/{id}/attrs`, handlers: { POST: appendAttributes, PATCH: updateAttributes } },
  {
    path: `${ROOT}/entities/{id}/attrs/{attr}`,
    handlers: { PATCH: patchAttribute, DELETE: deleteAttribute },
  },
  { path: `${ROOT}/entityOperations/create`, handlers: { POST: batchCreate } },
  { path: `${ROOT}/entityOperations/upsert`, handlers: { POST: batchUpsert } },
  { path: `${ROOT}/entityOperations/update`, handlers: { POST: batchUpdate } },
  { path: `${ROOT}/entityOperations/delete`, handlers: { POST: batchDelete } },
  {
    path: `${ROOT}/temporal/entities`,
    handlers: {
      GET: temporal(queryTemporalEntities, 'read'),
      POST: temporal(putTemporalEntity, 'write'),
    },
  },
  {
    path: `${ROOT}/temporal/entities/{id}`,
    handlers: {
      GET: temporal(retrieveTemporalEntity, 'read'),
      DELETE: temporal(deleteTemporalEntity, 'write'),
    },
  },
  {
    path: `${ROOT}/temporal/entities/{id}/attrs`,
    handlers: { POST: temporal(addTemporalAttributes, 'write') },
  },
  {
    path: `${ROOT}/temporal/entities/{id}/attrs/{attr}`,
    handlers: { DELETE: temporal(deleteTemporalAttribute, 'write') },
  },
  {
    path: `${ROOT}/temporal/entities/{id}/attrs/{attr}/{instanceId}`,
    handlers: { PATCH: temporal(replaceInstance, 'write'), DELETE: temporal(deleteInstance, 'write') },
  },
  { path: `${ROOT}/types`, handlers: { GET: listTypes } },
  { path: `${ROOT}/attributes`, handlers: { GET: listAttributes } },
];

/** Resources of the standard that this broker does not support. */
const NOT_IMPLEMENTED: ReadonlySet<string> = new Set([
  'temporal', 'entityOperations', 'entityMaps', 'snapshots', 'subscriptions', 'csourceRegistrations',
  'csourceSubscriptions', 'jsonldContexts', 'info', 'types', 'attributes',
]); // oxfmt-ignore

const COMPILED = ROUTES.map(({ path, handlers }) => ({
  path,
  handlers: new Map(Object.entries(handlers)),
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}${path === '/' ? '' : '/?'}$`),
}));

/** Finds the handler of a request. @throws Refusal 400, 404, 405 with Allow, 501 */
export function routeRequest(method: string, path: string) {
  for (const { path: route, handlers, pattern } of COMPILED) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const handler = handlers.get(method);
    if (handler === undefined) {
      const Allow = [...handlers.keys()].join(', ');
      throw refusals.methodNotAllowed(`${route} supports only ${Allow}`, { Allow });
    }
    return { route, handler, segments: found.slice(1).map(decodeSegment) };
  }
  const [, api, version, resource = ''] = path.split('/');
  if (api === 'ngsi-ld' && version === 'v1' && NOT_IMPLEMENTED.has(resource)) {
    throw refusals.notImplemented(`The embedded broker has no such resource below ${ROOT}/${resource}`);
  }
  throw refusals.notFound('No resource exists at this path');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw refusals.invalidRequest('The path is not percent-encoded UTF-8');
  }
}
