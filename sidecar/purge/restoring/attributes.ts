import pLimit from 'p-limit';
import { type ArchivedEntity, instanceKey } from '../../archive/index.js';
import { attributeNames } from '../../ngsi-ld/members.js';
import {
  type DeleteResult,
  type FailedItem,
  failedItems,
  parseBrokerProblem,
  type BrokerProblem,
} from '../broker/index.js';
import { keyOf } from '../ledger/index.js';
import { safePathOf } from '../proof/index.js';
import { type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import { type CreateResult, Lookup, type RestoreItem, type RestoreKind, type RestoreTools } from './item.js';
import { creatableAttribute, instancesOf, isSameAttribute } from './restorable.js';
import { resultOfReply, sendCreate } from './whole-entities.js';

const GONE: BrokerProblem = {
  status: 404,
  title: 'Entity gone',
  detail: 'The entity no longer exists, so its attributes cannot be appended. Restore the entity first.',
};

/** Restores attributes of entities: appends them without overwriting, each with those of its datasets that are missing. */
export class Attributes implements RestoreKind {
  readonly #options: RestoreTools;
  readonly #lookup: Lookup;
  readonly #proven = new Set<string>();
  #namesEntity = false;
  /** The entities as the broker showed them last. */
  #entities: ReadonlyMap<string, JsonObject> = new Map();

  constructor(options: RestoreTools) {
    this.#options = options;
    this.#lookup = new Lookup(options);
  }

  itemsOf(entityId: string, entity: ArchivedEntity): readonly RestoreItem[] {
    return attributeNames(entity).map((attribute) => ({
      entityId,
      attribute,
      entity,
      key: keyOf({ entityId, attribute }),
      content: entity[attribute] ?? null,
    }));
  }

  /** An attribute exists if all its datasets exist. */
  async shown(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, JsonValue>> {
    this.#entities = await this.#lookup.shown(items, true);
    const shown = new Map<string, JsonValue>();
    for (const item of items) {
      const there = this.#there(item);
      if (there !== undefined && this.#missingOf(item).length === 0) shown.set(item.key, there);
    }
    return shown;
  }

  refusalOf({ entityId }: RestoreItem): BrokerProblem | undefined {
    return this.#entities.has(entityId) ? undefined : GONE;
  }

  isSame({ content }: RestoreItem, shown: JsonValue): boolean {
    return isSameAttribute(content, shown);
  }

  async create(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, CreateResult>> {
    const byEntity = Map.groupBy(items, ({ entityId }) => entityId);
    const results = new Map<string, CreateResult>();
    await pLimit(this.#options.limits.concurrency).map(byEntity.values(), async (each) => {
      const came = await this.#append(each);
      for (const item of each) results.set(item.key, came(item));
    });
    return results;
  }

  /** Appends attributes of one entity. @returns a function that gives the result of each item */
  async #append(items: readonly RestoreItem[]): Promise<(item: RestoreItem) => CreateResult> {
    const entityId = items[0]?.entityId ?? '';
    if (!this.#entities.has(entityId)) return () => ({ kind: 'refused', problem: GONE });
    const { requester } = this.#options;
    const safe = await safePathOf({ requester, resource: { path: '/entities' } }, entityId, this.#proven);
    if (!('path' in safe)) return () => doubtful(safe.doubt);
    const body = objectOf(
      items.map((item) => {
        const missing = this.#missingOf(item).map(creatableAttribute);
        const [only = null] = missing;
        return [item.attribute ?? '', missing.length === 1 ? only : missing] as const;
      }),
    );
    const settled = await this.#sendFragment(safe.path, body, items);
    if ('unclear' in settled) return () => ({ kind: 'unclear', problem: settled.unclear });
    const { reply } = settled;
    if (reply.status === 400 && items.length > 1) return this.#appendEach(items);
    if (reply.status >= 300) {
      const problem = parseBrokerProblem(reply);
      return () => ({ kind: 'refused', problem });
    }
    if (reply.status !== 207) return () => resultOfReply(reply, false);
    const failures = failedItems(reply);
    // Scorpio does not say which attributes it means.
    const unnamed = failures.find((one) => one.attribute === undefined);
    return ({ attribute = '' }) => {
      const own = failures.find((one) => isNamed(attribute, one.attribute));
      if (own !== undefined) return { kind: 'refused', problem: notAppended(own) };
      return unnamed === undefined ? { kind: 'created' } : { kind: 'unclear', problem: unnamed.problem };
    };
  }

  /**
   * Appends attributes one by one. A broker may refuse all of them because of one that somebody has written in the meantime, or
   * that it never accepts.
   */
  async #appendEach(items: readonly RestoreItem[]): Promise<(item: RestoreItem) => CreateResult> {
    const results = new Map<string, CreateResult>();
    for (const item of items) results.set(item.key, (await this.#append([item]))(item));
    return ({ key }) => results.get(key) ?? { kind: 'refused', problem: GONE };
  }

  /** Sends a fragment of an entity. Some brokers accept it only with the id and type of the entity. */
  async #sendFragment(entityPath: string, attributes: JsonObject, items: readonly RestoreItem[]) {
    const { requester, capabilities } = this.#options;
    const path = `${entityPath}/attrs${capabilities.get('collection-end') ?? ''}?options=noOverwrite`;
    const request = { path, count: items.length, operation: 'append attributes' };
    const { id = '', type = '' } = items[0]?.entity ?? {};
    const named = objectOf([['id', id], ['type', type], ...Object.entries(attributes)]);
    const send = (body: JsonObject) => sendCreate(requester, { ...request, jsonBody: JSON.stringify(body) });
    if (!this.#namesEntity) {
      const settled = await send(attributes);
      if ('unclear' in settled || settled.reply.status !== 400) return settled;
    }
    const settled = await send(named);
    this.#namesEntity ||= 'reply' in settled && settled.reply.status < 300;
    return settled;
  }

  #there({ entityId, attribute = '' }: RestoreItem): JsonValue | undefined {
    return member(this.#entities.get(entityId) ?? {}, attribute);
  }

  /** Returns the archived instances of an attribute whose datasets do not exist. */
  #missingOf(item: RestoreItem): readonly JsonValue[] {
    const there = new Set(instancesOf(this.#there(item)).map((instance) => instanceKey(instance, false)));
    return instancesOf(item.content).filter((instance) => !there.has(instanceKey(instance, false)));
  }
}

/** Whether a broker's answer names an attribute, which it does as sent or by IRI. */
function isNamed(attribute: string, name: string | undefined): boolean {
  if (name === undefined) return false;
  return name === attribute || name.endsWith(`/${attribute}`) || name.endsWith(`#${attribute}`);
}

/** The problem of an attribute that a broker names as not appended, with its reason. */
function notAppended({ problem: { title, detail = title } }: FailedItem): BrokerProblem {
  return {
    status: 409,
    title: 'The broker did not append the attribute',
    ...(detail === undefined ? {} : { detail }),
  };
}

/** The result for an item whose entity has no safe path. */
function doubtful(doubt: DeleteResult): CreateResult {
  return { kind: 'refused', problem: 'problem' in doubt ? doubt.problem : GONE };
}
