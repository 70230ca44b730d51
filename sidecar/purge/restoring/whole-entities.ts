import pLimit from 'p-limit';
import type { ArchivedEntity } from '../../archive/index.js';
import {
  type BrokerProblem,
  type BrokerReply,
  type FailedItem,
  failedItems,
  failureIn,
  parseBrokerProblem,
  parseJsonObject,
} from '../broker/index.js';
import { attributeNames } from '../../ngsi-ld/members.js';
import { problemOfFailure } from '../ledger/index.js';
import type { PurgeRequest, Requester } from '../requests/index.js';
import { isObject, type JsonValue } from '../../shared/json/json.js';
import { type CreateResult, Lookup, type RestoreItem, type RestoreKind, type RestoreTools } from './item.js';
import { isAskable } from '../query/index.js';
import { creatable, instancesOf, isSameEntity } from './restorable.js';

const BATCH_PATH = '/entityOperations/create';
const CREATED: CreateResult = { kind: 'created' };
const EXISTS: CreateResult = { kind: 'exists' };
const TOO_DEEP: BrokerProblem = {
  status: 422,
  title: 'Nested too deeply',
  detail: 'It is nested too deeply to be sent. The archive contains it.',
};

/** What creates an entity, and the key of its item. */
interface Body {
  readonly key: string;
  readonly text: string;
}

/** Restores whole entities: creates them in batches, or one by one if the broker does not accept a batch. */
export class WholeEntities implements RestoreKind {
  readonly #options: RestoreTools;
  readonly #lookup: Lookup;
  #takesBatches = true;

  constructor(options: RestoreTools) {
    this.#options = options;
    this.#lookup = new Lookup(options);
  }

  itemsOf(entityId: string, entity: ArchivedEntity): readonly RestoreItem[] {
    return [{ key: entityId, entityId, entity, content: entity, isHidden: !isAskable(entityId) }];
  }

  shown(items: readonly RestoreItem[], isWhole: boolean): Promise<ReadonlyMap<string, JsonValue>> {
    return this.#lookup.shown(items, isWhole);
  }

  isSame({ entity }: RestoreItem, shown: JsonValue): boolean {
    return isObject(shown) && isSameEntity(entity, shown);
  }

  async create(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, CreateResult>> {
    const results = new Map<string, CreateResult>();
    const [plain, several]: [Body[], Body[]] = [[], []];
    for (const { key, entity } of items) {
      const text = textOf(entity);
      if (text === undefined) results.set(key, { kind: 'refused', problem: TOO_DEEP });
      else (hasDatasets(entity) ? several : plain).push({ key, text });
    }
    for (const [key, result] of await this.#create(plain)) results.set(key, result);
    // Orion-LD refuses datasets in a batch, or loses them without a word.
    for (const [key, result] of await this.#createSingly(several)) results.set(key, result);
    return results;
  }

  async #create(bodies: readonly Body[]): Promise<ReadonlyMap<string, CreateResult>> {
    return this.#takesBatches && bodies.length > 1 ? this.#createBatch(bodies) : this.#createSingly(bodies);
  }

  /** Creates entities by one batch, and by further requests what the broker refused only because of the others. */
  async #createBatch(bodies: readonly Body[]): Promise<ReadonlyMap<string, CreateResult>> {
    const settled = await this.#send(BATCH_PATH, `[${bodies.map(({ text }) => text).join()}]`, bodies.length);
    if ('unclear' in settled)
      return new Map(bodies.map(({ key }) => [key, { kind: 'unclear', problem: settled.unclear }]));
    const { reply, wasUnclear } = settled;
    const results = new Map(resultsOfBatch(reply, bodies));
    const others = bodies.filter(({ key }) => !results.has(key));
    if (results.size === 0 && [404, 405, 501].includes(reply.status)) this.#takesBatches = false;
    // A batch that names nothing would be refused again.
    const more = results.size === 0 ? await this.#createSingly(others) : await this.#create(others);
    for (const [key, result] of more) results.set(key, result);
    // What an earlier try has created exists by now.
    if (wasUnclear) for (const [key, { kind }] of results) if (kind === 'exists') results.set(key, CREATED);
    return results;
  }

  async #createSingly(bodies: readonly Body[]): Promise<ReadonlyMap<string, CreateResult>> {
    const results = new Map<string, CreateResult>();
    const path = `/entities${this.#options.capabilities.get('collection-end') ?? ''}`;
    await pLimit(this.#options.limits.concurrency).map(bodies, async ({ key, text }) => {
      const settled = await this.#send(path, text, 1);
      if ('unclear' in settled) results.set(key, { kind: 'unclear', problem: settled.unclear });
      else results.set(key, resultOfReply(settled.reply, settled.wasUnclear));
    });
    return results;
  }

  async #send(path: string, jsonBody: string, count: number) {
    return sendCreate(this.#options.requester, { path, jsonBody, count, operation: 'create an entity' });
  }
}

export interface CreateRequest {
  readonly path: string;
  readonly jsonBody: string;
  /** Number of items that the request creates. */
  readonly count: number;
  readonly operation: string;
  /** As in PurgeRequest, but called only after a try that may have had an effect. */
  readonly beforeRetry?: PurgeRequest['beforeRetry'];
}

/** Sends a request that creates something. `wasUnclear` says whether an earlier try of it may have had an effect. */
export async function sendCreate(
  requester: Requester,
  { path, jsonBody, count, operation, beforeRetry }: CreateRequest,
): Promise<
  { readonly reply: BrokerReply; readonly wasUnclear: boolean } | { readonly unclear: BrokerProblem }
> {
  const tries = { wasUnclear: false };
  const settled = await requester.send({
    method: 'POST',
    path,
    jsonBody,
    operation,
    deletes: count,
    isIndivisible: true,
    accepts403: true,
    beforeRetry: async (failure) =>
      beforeRetry !== undefined && tries.wasUnclear ? beforeRetry(failure) : {},
    onUnclear: () => {
      tries.wasUnclear = true;
    },
  });
  if (settled.kind === 'gave-up') return { unclear: problemOfFailure(settled.failure) };
  return { reply: settled.reply, ...tries };
}

/** Reads the answer to the creation of one entity, or to a request that adds instances. */
export function resultOfReply(reply: BrokerReply, wasUnclear: boolean): CreateResult {
  if (reply.status >= 200 && reply.status < 300) return resultOfSuccess(reply);
  if (reply.status === 409) return wasUnclear ? CREATED : EXISTS;
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}

/** Reads a successful answer, in which a problem may say the opposite. */
function resultOfSuccess(reply: BrokerReply): CreateResult {
  const failure = failureIn(reply);
  return failure !== undefined && 'problem' in failure
    ? { kind: 'unclear', problem: failure.problem }
    : CREATED;
}

/** Reads the answer to a batch create. A refused batch has created only what the answer says; the others are left out. */
function resultsOfBatch(
  reply: BrokerReply,
  items: readonly Pick<RestoreItem, 'key'>[],
): ReadonlyMap<string, CreateResult> {
  const success = parseJsonObject(reply.body)?.['success'];
  const created = new Set(Array.isArray(success) ? (success as readonly unknown[]) : []);
  const isRefused = reply.status >= 400;
  const others = reply.status === 207 ? CREATED : resultOfSuccess(reply);
  const results = new Map<string, CreateResult>();
  for (const { key } of items)
    if (created.has(key)) results.set(key, CREATED);
    else if (!isRefused) results.set(key, others);
  const keys = new Set(items.map(({ key }) => key));
  for (const failed of failedItems(reply)) {
    const { entityId = '' } = failed;
    if (keys.has(entityId)) results.set(entityId, resultOfFailed(failed));
  }
  return results;
}

function resultOfFailed({ status, problem }: FailedItem): CreateResult {
  const words = `${problem.type ?? ''} ${problem.title ?? ''}`;
  // Orion-LD reports an existing entity with a 400.
  if (status === 409 || ((status ?? 0) < 500 && /already ?exist/i.test(words))) return EXISTS;
  return { kind: status === undefined || status >= 500 ? 'unclear' : 'refused', problem };
}

/** Whether an attribute has several instances, or one of a dataset. */
function hasDatasets(entity: ArchivedEntity): boolean {
  return attributeNames(entity).some((name) => {
    const instances = instancesOf(entity[name]);
    return instances.length > 1 || instances.some((one) => isObject(one) && 'datasetId' in one);
  });
}

/** What creates an entity; undefined if it is nested too deeply to be written. */
function textOf(entity: ArchivedEntity): string | undefined {
  try {
    return JSON.stringify(creatable(entity));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
