import { matchesType, parseTypeSelector } from '../ngsi-ld/type-selector.js';
import { NgsiLdSyntaxError } from '../ngsi-ld/syntax-error.js';
import { newAttribute, readEntity, readFragment, type EntityFragment } from './entity-input.js';
import { attributeOf, deleteInstances, isNull, mergeAttribute, putAttribute } from './entity-changes.js';
import { canonicalSelector, readRepresentation } from './entity-query.js';
import type { JsonValue } from '../shared/json/json.js';
import type { BrokerContext, BrokerRequest, BrokerResponse, Handler } from './exchange.js';
import { type StoredEntity, canonicalName, isUri } from './model.js';
import { readInstanceChoice, readList, readParameters, type Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';
import { represent } from './representation.js';
import type { EntityStore } from './store.js';

const NO_CONTENT: BrokerResponse = { status: 204 };

/** POST /entities (clause 5.6.1). */
export async function createEntity(request: BrokerRequest, context: BrokerContext): Promise<BrokerResponse> {
  readParameters(request.search, new Set());
  const now = context.clock.now();
  const content = readEntity(await request.body(), now);
  if (context.tenants.created(request.tenant).entities.create(content, now) === undefined) {
    throw refusals.alreadyExists(`Entity ${content.id} already exists`);
  }
  return { status: 201, headers: { Location: `/ngsi-ld/v1/entities/${encodeURIComponent(content.id)}` } };
}

/** GET /entities/{id} (clause 5.7.1). */
export function retrieveEntity(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const parameters = readParameters(
    request.search,
    new Set(['type', 'attrs', 'pick', 'format', 'options', 'geometryProperty', 'local']),
  );
  const { entity } = locate(request, context, parameters);
  const attrs = readList(parameters, 'attrs')?.map(canonicalName);
  if (attrs?.every((name) => attributeOf(entity, name) === undefined) === true) {
    throw refusals.notFound(`Entity ${entity.id} has none of these attributes`);
  }
  return { status: 200, body: represent(entity, readRepresentation(parameters)) };
}

/** DELETE /entities/{id} (clause 5.6.6). */
export function deleteEntity(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const { store, entity } = locate(
    request,
    context,
    readParameters(request.search, new Set(['type', 'local'])),
  );
  const { behaviour } = context;
  if (behaviour.isLocked(entity.id)) throw refusals.conflict(`Entity ${entity.id} is locked`);
  if (!behaviour.isGhost(entity.id)) store.delete(entity.id);
  return NO_CONTENT;
}

/** PUT /entities/{id}: Replace Entity (clause 5.6.18). */
export const replaceEntity: Handler = (request, context) =>
  changeByBody(request, context, ({ entity, now, body }) => {
    const fragment = ofEntity(readFragment(body), entity);
    entity.attributes = fragment.attributes.map(([name, value]) => newAttribute(name, value, now));
    entity.scopes = fragment.scopes ?? [];
    entity.types = fragment.types ?? entity.types;
    return NO_CONTENT;
  });

/** PATCH /entities/{id}: Merge Entity (clause 5.6.17). */
export const mergeEntity: Handler = (request, context) =>
  changeByBody(request, context, ({ entity, now, body }) => {
    const fragment = ofEntity(readFragment(body), entity);
    for (const [name, value] of fragment.attributes) mergeAttribute(entity, name, value, now);
    gainTypesAndScopes(entity, fragment);
    return NO_CONTENT;
  });

/** POST /entities/{id}/attrs: Append Attributes (clause 5.6.3). */
export const appendAttributes: Handler = (request, context) =>
  changeByBody(
    request,
    context,
    ({ entity, now, body, parameters }) => {
      const noOverwrite = readList(parameters, 'options')?.includes('noOverwrite') === true;
      const mayPut = (name: string) => !noOverwrite || attributeOf(entity, name) === undefined;
      return putAttributes(entity, readFragment(body), now, mayPut);
    },
    'options',
  );

/** PATCH /entities/{id}/attrs: Update Attributes (clause 5.6.2). */
export const updateAttributes: Handler = (request, context) =>
  changeByBody(request, context, ({ entity, now, body }) => {
    const isPresent = (name: string) => attributeOf(entity, name) !== undefined;
    return putAttributes(entity, readFragment(body), now, isPresent, true);
  });

/** PATCH /entities/{id}/attrs/{attr}: Partial Attribute Update (clause 5.6.4). */
export const patchAttribute: Handler = (request, context) =>
  changeByBody(request, context, ({ entity, now, body }) => {
    const name = attributeName(request);
    if (attributeOf(entity, name) === undefined) throw missingAttribute(entity, name);
    mergeAttribute(entity, name, body, now);
    return NO_CONTENT;
  });

/** DELETE /entities/{id}/attrs/{attr} (clause 5.6.5): the default instance, one `datasetId`, or all (`deleteAll`). */
export function deleteAttribute(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const parameters = readParameters(request.search, new Set(['type', 'datasetId', 'deleteAll', 'local']));
  const choice = readInstanceChoice(parameters);
  return change(request, context, parameters, (entity, now) => {
    if (context.behaviour.isLocked(entity.id)) throw refusals.conflict(`Entity ${entity.id} is locked`);
    const name = attributeName(request);
    if (!deleteInstances(entity, name, choice, now)) throw missingAttribute(entity, name);
    return NO_CONTENT;
  });
}

/** Finds the entity named in the path, if it matches the `type` parameter. @throws Refusal 400, 404 */
function locate(request: BrokerRequest, context: BrokerContext, parameters: Parameters) {
  const [id] = request.segments;
  if (!isUri(id)) throw refusals.badRequest('The id of an entity must be a URI');
  const store = context.tenants.existing(request.tenant).entities;
  const entity = store.get(id);
  if (entity === undefined || !hasType(entity, parameters))
    throw refusals.notFound(`Entity ${id} does not exist`);
  return { store, entity };
}

function hasType(entity: StoredEntity, parameters: Parameters): boolean {
  const type = parameters.get('type');
  if (type === undefined) return true;
  try {
    return matchesType(canonicalSelector(parseTypeSelector(type)), entity.types);
  } catch (error) {
    if (error instanceof NgsiLdSyntaxError) throw refusals.badRequest(error.message);
    throw error;
  }
}

interface BodyChange {
  /** A draft; kept only if the change does not throw. */
  readonly entity: StoredEntity;
  readonly now: number;
  readonly body: JsonValue;
  readonly parameters: Parameters;
}

/** Changes the entity named in the path as the body says. @param taken further parameters besides `type` and `local` */
async function changeByBody(
  request: BrokerRequest,
  context: BrokerContext,
  apply: (change: BodyChange) => BrokerResponse,
  ...taken: readonly string[]
): Promise<BrokerResponse> {
  const parameters = readParameters(request.search, new Set(['type', 'local', ...taken]));
  const body = await request.body();
  return change(request, context, parameters, (entity, now) => apply({ entity, now, body, parameters }));
}

/** Runs a change on a draft of the entity named in the path; keeps the draft only if the change does not throw. */
function change(
  request: BrokerRequest,
  context: BrokerContext,
  parameters: Parameters,
  apply: (draft: StoredEntity, now: number) => BrokerResponse,
): BrokerResponse {
  const { store, entity } = locate(request, context, parameters);
  return changeEntity(store, entity, context.clock.now(), apply);
}

/** Runs a change on a draft of an entity; keeps the draft only if the change does not throw. */
export function changeEntity<T>(
  store: EntityStore,
  entity: StoredEntity,
  now: number,
  apply: (draft: StoredEntity, now: number) => T,
): T {
  const draft = { ...entity, attributes: entity.attributes.map((attribute) => ({ ...attribute })) };
  const result = apply(draft, now);
  entity.attributes = draft.attributes;
  entity.scopes = draft.scopes;
  entity.modifiedAt = now;
  store.setTypes(entity, draft.types);
  return result;
}

/** Returns the fragment after checking that its id, if any, is the entity's. */
function ofEntity(fragment: EntityFragment, entity: StoredEntity): EntityFragment {
  if (fragment.id !== undefined && fragment.id !== entity.id) {
    throw refusals.badRequest('The id in the body is not the one in the path');
  }
  return fragment;
}

/**
 * Puts the attributes that `mayPut` allows; the others are reported in the answer (clause 5.2.18).
 *
 * @param deletes whether null deletes an attribute
 */
export function putAttributes(
  entity: StoredEntity,
  fragment: EntityFragment,
  now: number,
  mayPut: (name: string) => boolean,
  deletes = false,
): BrokerResponse {
  const { attributes } = ofEntity(fragment, entity);
  const allowed = attributes.filter(([name]) => mayPut(name));
  for (const [name, value] of allowed) {
    if (deletes && isNull(value)) mergeAttribute(entity, name, value, now);
    else putAttribute(entity, newAttribute(name, value, now), now);
  }
  gainTypesAndScopes(entity, fragment);
  if (allowed.length === attributes.length) return NO_CONTENT;
  const updated = allowed.map(([name]) => name);
  const notUpdated = attributes
    .filter(([name]) => !updated.includes(name))
    .map(([attributeName]) => ({
      attributeName,
      reason: 'It exists and must not be overwritten, or it does not exist',
    }));
  return { status: 207, body: { updated, notUpdated } };
}

/** Types are only ever added (clause 5.6.3); scopes are replaced. */
function gainTypesAndScopes(entity: StoredEntity, fragment: EntityFragment): void {
  entity.types = [...new Set([...entity.types, ...(fragment.types ?? [])])];
  entity.scopes = fragment.scopes ?? entity.scopes;
}

function attributeName(request: BrokerRequest): string {
  return canonicalName(request.segments[1] ?? '');
}

function missingAttribute(entity: StoredEntity, name: string) {
  return refusals.notFound(`Entity ${entity.id} has no such attribute: ${JSON.stringify(name.slice(0, 64))}`);
}
