import { type JsonValue, isArray, isObject, member } from '../shared/json/json.js';
import type { Problem } from '../shared/problem.js';
import { readEntity, readFragment } from './entity-input.js';
import { attributeOf } from './entity-changes.js';
import { changeEntity, putAttributes } from './entity-handlers.js';
import type { BrokerContext, BrokerRequest, BrokerResponse, Handler } from './exchange.js';
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
export const batchCreate: Handler = async (request, context) => {
  const batch = await readBatch(request, context, 'created');
  const result = eachOnce(batch.items, (id, item) => create(batch, id, item));
  return answer(result, { status: 201, body: result.success });
};

/** POST /entityOperations/upsert (clause 5.6.8); `options=update` adds to entities instead of replacing them. */
export const batchUpsert: Handler = async (request, context) => {
  const batch = await readBatch(request, context, 'created', 'options');
  const { options, store, now } = batch;
  const created: string[] = [];
  const result = eachOnce(batch.items, (id, item) => {
    const present = store.get(id);
    if (present === undefined) {
      create(batch, id, item);
      created.push(id);
    } else if (options.includes('update')) {
      updateEntity(batch, id, item, false);
    } else {
      const { types, scopes, attributes } = readEntity(item, now);
      changeEntity(store, present, now, (draft) => Object.assign(draft, { types, scopes, attributes }));
    }
  });
  return answer(result, created.length > 0 ? { status: 201, body: created } : { status: 204 });
};

/** POST /entityOperations/update (clause 5.6.9); with `options=noOverwrite`, existing attributes are left unchanged. */
export const batchUpdate: Handler = async (request, context) => {
  const batch = await readBatch(request, context, 'existing', 'options');
  const noOverwrite = batch.options.includes('noOverwrite');
  return answer(eachOnce(batch.items, (id, item) => updateEntity(batch, id, item, noOverwrite)));
};

/** POST /entityOperations/delete (clause 5.6.10). */
export const batchDelete: Handler = async (request, context) => {
  const { behaviour } = context;
  const { items, store } = await readBatch(request, context, 'existing');
  const remove = (id: string) => {
    if (behaviour.isLocked(id)) throw refusals.conflict(`Entity ${id} is locked`);
    const gone = behaviour.isGhost(id) ? store.get(id) !== undefined : store.delete(id);
    if (!gone) throw refusals.notFound(`Entity ${id} does not exist`);
  };
  return answer(eachOnce(items, remove, (item) => item));
};

/** A batch, and what its operation works on. */
interface Batch {
  readonly items: readonly JsonValue[];
  readonly options: readonly string[];
  readonly store: EntityStore;
  readonly now: number;
}

/** @param tenant whether the tenant is created if it does not exist; @param taken parameters besides `local` */
async function readBatch(
  request: BrokerRequest,
  { tenants, clock }: BrokerContext,
  tenant: 'created' | 'existing',
  ...taken: readonly string[]
): Promise<Batch> {
  const options = readList(readParameters(request.search, new Set(['local', ...taken])), 'options') ?? [];
  const items = await readItems(request);
  return { items, options, store: tenants[tenant](request.tenant).entities, now: clock.now() };
}

/** @param done the answer if no item failed */
function answer(result: BatchResult, done: BrokerResponse = { status: 204 }): BrokerResponse {
  return result.errors.length === 0 ? done : { status: 207, body: result };
}

function create({ store, now }: Batch, id: string, item: JsonValue): void {
  if (store.create(readEntity(item, now), now) === undefined)
    throw refusals.alreadyExists(`Entity ${id} already exists`);
}

function updateEntity({ store, now }: Batch, id: string, item: JsonValue, noOverwrite: boolean): void {
  const entity = store.get(id);
  if (entity === undefined) throw refusals.notFound(`Entity ${id} does not exist`);
  changeEntity(store, entity, now, (draft) => {
    const mayPut = (name: string) => !noOverwrite || attributeOf(draft, name) === undefined;
    putAttributes(draft, readFragment(item), now, mayPut);
  });
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
  operate: (id: string, item: JsonValue) => void,
  idOfItem = entityIdOf,
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
