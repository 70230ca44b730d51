import { filterOf } from './stub-broker-filter.js';
import {
  createdAtOf,
  ERRORS,
  problem,
  remove,
  type StubReply,
  type StubRequest,
  type StubState,
} from './stub-broker-state.js';

const NOT_FOUND = problem(404, 'ResourceNotFound', 'no such entity');

/** Answers `POST /entityOperations/delete` (clause 6.17.3.1), with the configured oddities. */
export function answerBatch(state: StubState, { ids, body }: StubRequest): StubReply {
  const { oddities, entities } = state;
  if (typeof oddities.batch === 'number') {
    return { status: oddities.batch, headers: { 'content-type': 'text/html' }, body: '<h1>no</h1>' };
  }
  if (oddities.batch === 'idle-200') return { status: 200 };
  if (oddities.batch === 'idle-204') return { status: 204 };
  if (ids.length === 0) return problem(400, 'BadRequestData', 'an empty array');
  if (ids.length > oddities.batchMaxIds || Buffer.byteLength(body) > oddities.batchMaxBytes) {
    return { status: oddities.overBatchMax, body: { title: 'no' } };
  }
  if (ids.some(oddities.badInBatch)) return problem(400, 'BadRequestData', 'not a URI');
  if (ids.some(oddities.poisonsBatch)) return problem(500, 'InternalError', 'null pointer');
  const isIdle = oddities.batch === 'idle-207' || ids.length > oddities.batchLooksUp;

  const success: string[] = [];
  const errors: unknown[] = [];
  const seen = new Set<string>();
  for (const id of ids) {
    const lock = oddities.locked(id);
    const isThere = entities.has(id) && !isIdle && !seen.has(id);
    seen.add(id);
    if (!isThere) {
      if (oddities.missing !== '204') errors.push(errorItem(state, id, 404, 'Entity Not Found'));
    } else if (lock !== undefined) {
      errors.push(errorItem(state, id, lock, 'Locked'));
    } else {
      remove(state, id);
      success.push(id);
    }
  }
  if (errors.length === 0) return { status: 204 };
  if (success.length === 0 && oddities.missing === '404-entity-ids') {
    return { status: 404, body: { ...(NOT_FOUND.body as object), entityIds: ids } };
  }
  const listed = oddities.silentItems ? [] : errors;
  if (success.length === 0 && oddities.missing === '404-errors') return { status: 404, body: { errors } };
  return { status: 207, body: { success, errors: listed } };
}

/** Builds an error item as in the standard, or as in Scorpio. */
function errorItem({ oddities }: StubState, id: string, status: number, title: string): unknown {
  const name = status === 404 ? 'ResourceNotFound' : 'Conflict';
  const details = { type: `${ERRORS}${name}`, title, ...(oddities.itemsWithoutStatus ? {} : { status }) };
  return oddities.missing === '404-errors'
    ? { type: 'Delete', id, ProblemDetails: details }
    : { entityId: id, error: details };
}

/** Answers `DELETE /entities/{id}` (clause 6.5.3.2). */
export function answerSingle(state: StubState, { id = '' }: StubRequest): StubReply {
  const { oddities, entities } = state;
  if (!entities.has(id) || oddities.single === 404) return NOT_FOUND;
  const lock = oddities.locked(id);
  if (lock !== undefined) return problem(lock, 'Conflict', 'locked');
  remove(state, id);
  return { status: 204 };
}

/**
 * Answers `DELETE /entities/{id}/attrs/{attribute}` (clause 6.7.3.2), for the instances that its
 * query names; `locked` is called with `id attribute`.
 */
export function answerAttribute(state: StubState, request: StubRequest): StubReply {
  const { id = '', attribute = '', query } = request;
  const { oddities, entities } = state;
  const name = oddities.aliases.get(attribute) ?? attribute;
  const entity = entities.get(id);
  if (entity === undefined || !Object.hasOwn(entity, name)) return NOT_FOUND;
  const lock = oddities.locked(`${id} ${name}`);
  if (lock !== undefined) return problem(lock, 'Conflict', 'locked');
  const instances: readonly unknown[] = [entity[name]].flat();
  const isAll = query.get('deleteAll') === 'true';
  const hasDatasets = instances.some((instance) => datasetOf(instance) !== undefined);
  const isFound = oddities.deleteAll === 'all' || (oddities.deleteAll === 'with-datasets' && hasDatasets);
  if (isAll && !isFound) return NOT_FOUND;
  const wanted = query.get('datasetId') ?? undefined;
  const kept = isAll ? [] : instances.filter((instance) => datasetOf(instance) !== wanted);
  if (kept.length === instances.length) return NOT_FOUND;
  if (!oddities.ghosts(`${id} ${name}`)) {
    // The entity is rebuilt instead of mutated, because it may be shared with the test.
    const rest = Object.entries(entity).filter(([member]) => member !== name);
    const left = kept.length === 0 ? [] : [[name, kept.length === 1 ? kept[0] : kept] as const];
    const rebuilt = { ...Object.fromEntries([...rest, ...left]), id };
    state.created.set(rebuilt, createdAtOf(state, entity));
    entities.set(id, rebuilt);
  }
  return { status: 204 };
}

function datasetOf(instance: unknown): unknown {
  return typeof instance === 'object' && instance !== null && 'datasetId' in instance
    ? instance.datasetId
    : undefined;
}

/** Executes the broker's own purge: one page of the matches, as in Orion-LD. */
export function answerCollection(state: StubState, { query }: StubRequest): StubReply {
  const { entities, oddities } = state;
  const found = [...entities.values()].filter(filterOf(query, oddities.aliases));
  for (const { id } of found.slice(0, oddities.nativePage)) remove(state, id);
  return { status: 204 };
}
