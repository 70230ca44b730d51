import type { BrokerContext, BrokerRequest, BrokerResponse, Handler } from './exchange.js';
import { canonicalName, isAttributeName, isUri } from './model.js';
import { readInstanceChoice, readParameters, type Parameters } from './query-parameters.js';
import { refusals, refusalWith } from './refusal.js';
import { readTemporalEntity, readTemporalFragment } from './entity-input.js';
import { locateTemporalEntity } from './temporal-query-handler.js';
import type { TemporalEntity } from './temporal-store.js';

const NO_CONTENT: BrokerResponse = { status: 204 };

/** Wraps a handler of temporal data so that the behaviour can switch it off. */
export function temporal(handler: Handler, kind: 'read' | 'write'): Handler {
  return (request, context) => {
    const { temporalStatus, temporalWriteStatus } = context.behaviour;
    const status = temporalStatus ?? (kind === 'write' ? temporalWriteStatus : undefined);
    if (status !== undefined) throw refusalWith(status, 'Temporal data is switched off');
    return handler(request, context);
  };
}

/** POST /temporal/entities: creates a temporal entity, or adds to the one with the same id (clauses 5.6.11, 6.18.3.1). */
export async function putTemporalEntity(
  request: BrokerRequest,
  context: BrokerContext,
): Promise<BrokerResponse> {
  readTemporalParameters(request, context, []);
  const content = readTemporalEntity(await request.body());
  const { id, types } = content;
  const now = context.clock.now();
  const store = context.tenants.find(request.tenant)?.history;
  const present = store?.entities.get(id);
  if (store !== undefined && present !== undefined) {
    store.add(present, content, now);
    return NO_CONTENT;
  }
  if (types === undefined) throw refusals.badRequest(`Temporal entity ${id} needs a type`);
  context.tenants.created(request.tenant).history.put({ ...content, types }, now);
  return { status: 201, headers: { Location: `/ngsi-ld/v1/temporal/entities/${encodeURIComponent(id)}` } };
}

/** POST /temporal/entities/{id}/attrs: adds instances (clauses 5.6.12, 6.20.3.1). */
export async function addTemporalAttributes(
  request: BrokerRequest,
  context: BrokerContext,
): Promise<BrokerResponse> {
  readTemporalParameters(request, context, []);
  const content = readTemporalFragment(await request.body());
  const { store, entity } = locateTemporalEntity(request, context);
  if (content.id !== undefined && content.id !== entity.id) {
    throw refusals.badRequest('The id in the body is not the one in the path');
  }
  store.add(entity, content, context.clock.now());
  return NO_CONTENT;
}

/** PATCH /temporal/entities/{id}/attrs/{attr}/{instanceId}: replaces an instance (clauses 5.6.14, 6.22.3.1). */
export async function replaceInstance(
  request: BrokerRequest,
  context: BrokerContext,
): Promise<BrokerResponse> {
  readTemporalParameters(request, context, []);
  const { attributes } = readTemporalFragment(await request.body());
  const { store, entity } = locateTemporalEntity(request, context);
  const name = attributeName(request);
  const [[given, bodies] = ['', []], ...others] = attributes;
  const [body] = bodies;
  if (given !== name || body === undefined || bodies.length > 1 || others.length > 0) {
    throw refusals.badRequest(`The body must contain one instance of ${name} and nothing else`);
  }
  const number = store.ids.numberOf(instanceIdOf(request));
  if (number === undefined || !store.replaceInstance(entity, name, number, body, context.clock.now())) {
    throw nothingThere(entity, 'instance');
  }
  return NO_CONTENT;
}

/** DELETE /temporal/entities/{id} (clauses 5.6.16, 6.19.3.2). */
export function deleteTemporalEntity(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  readTemporalParameters(request, context, []);
  const { behaviour } = context;
  const { store, entity } = locateTemporalEntity(request, context);
  const { id } = entity;
  if (behaviour.isLocked(id)) throw refusals.conflict(`Temporal entity ${id} is locked`);
  if (behaviour.isGhost(id)) return NO_CONTENT;
  store.entities.delete(id);
  return NO_CONTENT;
}

/**
 * DELETE /temporal/entities/{id}/attrs/{attr} (clauses 5.6.13, 6.21.3.1): deletes the instances without datasetId,
 * those with one `datasetId`, or all (`deleteAll`).
 */
export function deleteTemporalAttribute(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const which = readInstanceChoice(readTemporalParameters(request, context, ['datasetId', 'deleteAll']));
  const { store, entity } = locateTemporalEntity(request, context);
  const name = attributeName(request);
  if (isGhost(entity, name, undefined, context)) return NO_CONTENT;
  if (!store.deleteAttribute(entity, name, which, context.clock.now())) {
    throw nothingThere(entity, 'attribute');
  }
  return NO_CONTENT;
}

/** DELETE /temporal/entities/{id}/attrs/{attr}/{instanceId} (clauses 5.6.15, 6.22.3.2). */
export function deleteInstance(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  readTemporalParameters(request, context, []);
  const { store, entity } = locateTemporalEntity(request, context);
  const name = attributeName(request);
  const instanceId = instanceIdOf(request);
  if (isGhost(entity, name, instanceId, context)) return NO_CONTENT;
  const number = store.ids.numberOf(instanceId);
  if (number === undefined || !store.deleteInstance(entity, name, number, context.clock.now())) {
    throw nothingThere(entity, 'instance');
  }
  return NO_CONTENT;
}

/** Reads the parameters of a change; `local` is accepted with every change. */
function readTemporalParameters(
  { search }: BrokerRequest,
  { behaviour }: BrokerContext,
  taken: readonly string[],
): Parameters {
  return readParameters(search, new Set([...taken, 'local']), behaviour.ignoreParameters);
}

/** Whether to confirm a deletion without carrying it out. @throws Refusal Conflict if the instance is locked */
function isGhost(
  { id }: TemporalEntity,
  attribute: string,
  instanceId: string | undefined,
  { behaviour }: BrokerContext,
): boolean {
  if (behaviour.isLockedInstance(id, attribute, instanceId)) {
    throw refusals.conflict(`Temporal entity ${id} is locked in part`);
  }
  return behaviour.isGhostInstance(id, attribute, instanceId);
}

function attributeName({ segments }: BrokerRequest): string {
  const name = canonicalName(segments[1] ?? '');
  if (!isAttributeName(name)) throw refusals.badRequest('The path does not name an attribute');
  return name;
}

function instanceIdOf({ segments }: BrokerRequest): string {
  const [, , instanceId] = segments;
  if (!isUri(instanceId)) throw refusals.badRequest('An instanceId must be a URI');
  return instanceId;
}

function nothingThere({ id }: TemporalEntity, what: 'attribute' | 'instance') {
  return refusals.notFound(`Temporal entity ${id} has no such ${what}`);
}
