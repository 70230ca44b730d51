import { type JsonValue, isArray, isObject, member } from '../shared/json/json.js';
import type { Problem } from '../ngsi-ld/problem.js';
import { readEntity, readFragment } from './entity-input.js';
import { attributeOf } from './entity-changes.js';
import { changeEntity, putAttributes } from './entity-handlers.js';
import type { BrokerContext, BrokerRequest, BrokerResponse } from './exchange.js';
import { isUri } from './model.js';
import { readList, readParameters } from './query-parameters.js';
import { Refusal, refusals } from './refusal.js';
import type { EntityStore } from './store.js';

/** BatchOperationResult (clauses 5.2.16 and 5.2.17). */
interface BatchResult {
  readonly success: string[];
  readonly errors: { readonly entityId: string; readonly error: Problem }[];
}

/** POST /entityOperations/create (clause 5.6.7). */
export async function batchCreate(request: BrokerRequest, context: BrokerContext): Promise<BrokerResponse> {
  readParameters(request.search, new Set(['local']));
  const items = await readItems(request);
  const store = context.tenants.created(request.tenant).entities;
  const now = context.clock.now();
  const result = eachOnce(items, entityIdOf, (id, item) => {
    if (store.create(readEntity(item, now), now) === undefined) {
      throw refusals.alreadyExists(`Entity ${id} already exists`);
    }
  });
  return result.errors.length === 0 ? { status: 201, body: result.success } : { status: 207, body: result };
}

/** POST /entityOperations/upsert (clause 5.6.8); `options=update` adds to entities instead of replacing them. */
export async function batchUpsert(request: BrokerRequest, context: BrokerContext): Promise<BrokerResponse> {
  const options = readOptions(request);
  const items = await readItems(request);
  const store = context.tenants.created(request.tenant).entities;
  const now = context.clock.now();
  const created: string[] = [];
  const result = eachOnce(items, entityIdOf, (id, item) => {
    const present = store.get(id);
    if (present === undefined) {
      store.create(readEntity(item, now), now);
      created.push(id);
    } else if (options.includes('update')) {
      updateEntity(store, id, item, now, false);
    } else {
      const content = readEntity(item, now);
      changeEntity(store, present, now, (draft) => {
        Object.assign(draft, {
          types: content.types,
          scopes: content.scopes,
          attributes: content.attributes,
        });
      });
    }
  });
  if (result.errors.length > 0) return { status: 207, body: result };
  return created.length > 0 ? { status: 201, body: created } : { status: 204 };
}

/** POST /entityOperations/update (clause 5.6.9); with `options=noOverwrite`, existing attributes are left unchanged. */
export async function batchUpdate(request: BrokerRequest, context: BrokerContext): Promise<BrokerResponse> {
  const options = readOptions(request);
  const items = await readItems(request);
  const store = context.tenants.existing(request.tenant).entities;
  const now = context.clock.now();
  const result = eachOnce(items, entityIdOf, (id, item) => {
    updateEntity(store, id, item, now, options.includes('noOverwrite'));
  });
  return result.errors.length === 0 ? { status: 204 } : { status: 207, body: result };
}

function updateEntity(
  store: EntityStore,
  id: string,
  item: JsonValue,
  now: number,
  noOverwrite: boolean,
): void {
  const entity = store.get(id);
  if (entity === undefined) throw refusals.notFound(`Entity ${id} does not exist`);
  changeEntity(store, entity, now, (draft) => {
    putAttributes(
      draft,
      readFragment(item),
      now,
      (name) => !noOverwrite || attributeOf(draft, name) === undefined,
    );
  });
}

/** POST /entityOperations/delete (clause 5.6.10). */
export async function batchDelete(request: BrokerRequest, context: BrokerContext): Promise<BrokerResponse> {
  const { behaviour } = context;
  readParameters(request.search, new Set(['local']));
  const items = await readItems(request);
  const store = context.tenants.existing(request.tenant).entities;
  const result = eachOnce(
    items,
    (item) => item,
    (id) => {
      if (behaviour.isLocked(id)) throw refusals.conflict(`Entity ${id} is locked`);
      const gone = behaviour.isGhost(id) ? store.get(id) !== undefined : store.delete(id);
      if (!gone) throw refusals.notFound(`Entity ${id} does not exist`);
    },
  );
  return result.errors.length === 0 ? { status: 204 } : { status: 207, body: result };
}

function readOptions({ search }: BrokerRequest): readonly string[] {
  return readList(readParameters(search, new Set(['options', 'local'])), 'options') ?? [];
}

/** Reads the items of a batch: at least one, and none null. @throws Refusal BadRequestData */
async function readItems(request: BrokerRequest): Promise<readonly JsonValue[]> {
  const body = await request.body();
  if (!isArray(body)) throw refusals.badRequest('A batch must be an array');
  if (body.length === 0) throw refusals.badRequest('A batch must not be empty');
  if (body.includes(null)) throw refusals.badRequest('A batch must not contain null');
  request.items = body.length;
  return body;
}

function entityIdOf(item: JsonValue): JsonValue | undefined {
  return isObject(item) ? member(item, 'id') : undefined;
}

/** Applies an operation to each item independently; a repeated id is an error (clause 5.5.11.4). */
function eachOnce(
  items: readonly JsonValue[],
  idOfItem: (item: JsonValue) => JsonValue | undefined,
  operate: (id: string, item: JsonValue) => void,
): BatchResult {
  const result: BatchResult = { success: [], errors: [] };
  const seen = new Set<string>();
  for (const item of items) {
    const id = idOfItem(item);
    const entityId = typeof id === 'string' ? id : '';
    try {
      if (!isUri(id)) throw refusals.badRequest('The id of an entity must be a URI');
      if (seen.has(id)) throw refusals.badRequest(`Entity ${id} is repeated in the batch`);
      seen.add(id);
      operate(id, item);
      result.success.push(id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      result.errors.push({ entityId, error: error.problem });
    }
  }
  return result;
}
