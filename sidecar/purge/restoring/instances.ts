import pLimit, { type LimitFunction } from 'p-limit';
import type { ArchivedEntity } from '../../archive/index.js';
import { attributeNames } from '../../ngsi-ld/members.js';
import { instantOf } from '../../ngsi-ld/q-time.js';
import { isObject, type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import { canonicalJson } from '../../shared/json/lossless-json.js';
import { isNotUnderstood } from '../errors.js';
import { entitiesIn, Lister, temporalEntities } from '../listing/index.js';
import type { BrokerProblem } from '../broker/index.js';
import type { CreateResult, RestoreItem, RestoreKind, RestoreTools } from './item.js';
import { isAskable } from '../query/index.js';
import { creatableAttribute, instancesOf } from './restorable.js';
import { resultOfReply, sendCreate } from './whole-entities.js';

/** Maximum number of instances of one attribute to look for in one query; brokers show a few hundred at once. */
const MAX_INSTANCES = 100;

/** Maximum number of instances in one request, and maximum size of its body; brokers refuse bodies of 1 MB or more. */
const MAX_ADDED = 500;
const MAX_ADDED_BYTES = 800_000;

/** After so many refusals in a row, the broker is assumed to refuse all instances. */
const MAX_REFUSED = 100;

/** After so many ids in a row that the broker refuses in queries, it is assumed to refuse them for another reason. */
const MAX_REFUSED_IDS = 10;

/** What the broker shows of some items, by their keys, and why it refuses to show others. */
interface LookedUp {
  readonly shown: ReadonlyMap<string, JsonValue>;
  readonly refused: ReadonlyMap<string, BrokerProblem>;
}

/** What a query shows of one attribute. */
interface ShownHistory {
  readonly instances: readonly JsonValue[];
  /** Whether the broker says that there are more. */
  readonly isPartial: boolean;
}

/** Restores instances of attributes: adds them to the history of their entity, which is created if it no longer exists. */
export class Instances implements RestoreKind {
  readonly #options: RestoreTools;
  readonly #lister: Lister;
  /** Limits the queries for instances in flight. */
  readonly #turn: LimitFunction;
  /** Length of the longest list shown so far. */
  #longest = 0;
  /** Number of refused requests since the last one that was not. */
  #refused = 0;
  /** The refused ids since the last query that was answered. */
  readonly #refusedIds = new Set<string>();
  /** The refusals of the last look. */
  #refusals: LookedUp['refused'] = new Map();

  constructor(options: RestoreTools) {
    this.#options = options;
    this.#turn = pLimit(options.limits.concurrency);
    this.#lister = new Lister({
      ...options,
      limits: { pageSize: 1, pageSizeMax: 1 },
      resource: temporalEntities(true),
    });
  }

  itemsOf(entityId: string, entity: ArchivedEntity): readonly RestoreItem[] {
    return attributeNames(entity).flatMap((attribute) =>
      instancesOf(entity[attribute]).map((content, index) => ({
        entityId,
        attribute,
        entity,
        content,
        key: `${entityId}\u0000${attribute}\u0000${String(index)}`,
        // Instances are looked up by their time. Only some brokers show those without a time.
        isHidden: timeOf(content) === undefined || !isAskable(entityId),
      })),
    );
  }

  /**
   * Restored instances get new ids. An instance exists if the broker shows one with the same time and content. Each shown
   * instance stands for one item only.
   */
  async shown(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, JsonValue>> {
    const { shown, refused } = await this.#lookUp(items);
    this.#refusals = refused;
    return shown;
  }

  refusalOf({ key }: RestoreItem): BrokerProblem | undefined {
    return this.#refusals.get(key);
  }

  async #lookUp(items: readonly RestoreItem[]): Promise<LookedUp> {
    const shown = new Map<string, JsonValue>();
    const refused = new Map<string, BrokerProblem>();
    const askable = items.filter(({ entityId }) => isAskable(entityId));
    this.#turn.concurrency = this.#options.limits.concurrency;
    const look = async (group: readonly RestoreItem[]): Promise<void> => {
      const page = await this.#turn(() => this.#historyOf(group));
      if (page === undefined) return;
      if ('refusal' in page) {
        for (const { key } of group) refused.set(key, page.refusal);
        return;
      }
      const half = Math.ceil(group.length / 2);
      if (this.#mayBeCut(page, group) && hasTime(group) && group.length > 1)
        await Promise.all([look(group.slice(0, half)), look(group.slice(half))]);
      else match(group, page.instances, shown);
    };
    await Promise.all(groupsOf(askable).map(look));
    return { shown, refused };
  }

  /**
   * Whether a list may be truncated. Some brokers truncate silently, so a list as long as the longest one is suspect, unless it
   * has everything that is looked for.
   */
  #mayBeCut({ instances, isPartial }: ShownHistory, group: readonly RestoreItem[]): boolean {
    this.#longest = Math.max(this.#longest, instances.length);
    if (isPartial) return true;
    return instances.length > 0 && instances.length === this.#longest && !hasAll(group, instances);
  }

  isSame(): boolean {
    return true;
  }

  async create(items: readonly RestoreItem[]): Promise<ReadonlyMap<string, CreateResult>> {
    const results = new Map<string, CreateResult>();
    for (const item of items) {
      const problem = this.refusalOf(item);
      if (problem !== undefined) results.set(item.key, { kind: 'refused', problem });
    }
    // What is refused may exist, and would then be there twice.
    const known = items.filter(({ key }) => !results.has(key));
    const byEntity = Map.groupBy(known, ({ entityId }) => entityId);
    await pLimit(this.#options.limits.concurrency).map(byEntity.values(), async (group) => {
      // The newest come first: Stellio makes the current entity of the first request that it gets. It refuses a request if an
      // instance in it has no time, so instances with a time are sent separately.
      const sorted = group.toSorted(
        (one, other) => (timeOf(other.content) ?? 0) - (timeOf(one.content) ?? 0),
      );
      for (const isTimed of [true, false])
        for (const part of this.#portionsOf(sorted.filter((item) => hasTime([item]) === isTimed)))
          await this.#add(part, results);
    });
    return results;
  }

  /** Splits items into what fits in one request. */
  *#portionsOf(items: readonly RestoreItem[]): Iterable<readonly RestoreItem[]> {
    let portion: RestoreItem[] = [];
    let bytes = 0;
    for (const item of items) {
      const more = Buffer.byteLength(JSON.stringify(item.content));
      const most = Math.min(MAX_ADDED, this.#options.requester.maxPerRequest);
      if (portion.length > 0 && (portion.length >= most || bytes + more > MAX_ADDED_BYTES)) {
        yield portion;
        [portion, bytes] = [[], 0];
      }
      portion.push(item);
      bytes += more;
    }
    if (portion.length > 0) yield portion;
  }

  /**
   * Adds instances of one entity, by the request that also creates its history (clause 5.6.11). The broker adds them each time
   * it is sent. So after a try that may have had an effect, only the instances that the broker does not show are sent again.
   */
  async #add(items: readonly RestoreItem[], results: Map<string, CreateResult>): Promise<void> {
    const { requester, capabilities } = this.#options;
    let left = items;
    const settled = await sendCreate(requester, {
      path: `/temporal/entities${capabilities.get('collection-end') ?? ''}`,
      jsonBody: bodyOf(items),
      count: items.length,
      operation: 'add instances to the history of an entity',
      beforeRetry: async ({ kind, status }) => {
        // Instances that may still be added, or that cannot be looked up, stay unclear.
        if (kind === 'timeout' || status === 504 || left.some(({ isHidden }) => isHidden === true))
          return undefined;
        left = await this.#withoutShown(left, results);
        return left.length === 0 ? undefined : { jsonBody: bodyOf(left), deletes: left.length };
      },
    });
    if ('reply' in settled && left.length > 1 && this.#isDivisible(settled.reply.status)) {
      // A body that is too large was not read.
      if (settled.reply.status !== 413) left = await this.#withoutShown(left, results);
      const half = Math.ceil(left.length / 2);
      for (const part of [left.slice(0, half), left.slice(half)])
        if (part.length > 0) await this.#add(part, results);
      return;
    }
    const result: CreateResult =
      'unclear' in settled
        ? { kind: 'unclear', problem: settled.unclear }
        : resultOfReply(settled.reply, settled.wasUnclear);
    this.#refused = result.kind === 'refused' ? this.#refused + 1 : 0;
    for (const { key } of left) results.set(key, result);
  }

  /** Whether a request was refused for its size, or perhaps for one of its instances only. */
  #isDivisible(status: number): boolean {
    return status === 413 || ((status === 400 || status === 422) && this.#refused < MAX_REFUSED);
  }

  /** Notes which instances exist after all, and which ones the broker refuses to show; returns the others. */
  async #withoutShown(
    items: readonly RestoreItem[],
    results: Map<string, CreateResult>,
  ): Promise<readonly RestoreItem[]> {
    const { shown, refused } = await this.#lookUp(items);
    for (const key of shown.keys()) results.set(key, { kind: 'created' });
    for (const [key, problem] of refused) results.set(key, { kind: 'unclear', problem });
    return items.filter(({ key }) => !shown.has(key) && !refused.has(key));
  }

  /**
   * Queries what the broker shows of one attribute in the interval of some of its instances; undefined if the broker does not
   * support the query for instances without a time.
   *
   * @throws as Lister.page(), but a refusal only if the broker has refused several ids in a row
   */
  async #historyOf(
    items: readonly RestoreItem[],
  ): Promise<ShownHistory | { readonly refusal: BrokerProblem } | undefined> {
    const [first] = items;
    const { entityId = '', attribute = '', entity } = first ?? {};
    const times = items.map(({ content }) => timeOf(content) ?? 0);
    const interval = hasTime(items)
      ? [
          { name: 'timerel', value: 'between' },
          { name: 'timeAt', value: timeText(Math.min(...times) - 1) },
          { name: 'endTimeAt', value: timeText(Math.max(...times) + 1) },
        ]
      : [
          { name: 'timerel', value: 'after' },
          { name: 'timeAt', value: timeText(0) },
          { name: 'timeproperty', value: 'createdAt' },
        ];
    const type = [entity?.['type']].flat().filter((one) => typeof one === 'string');
    const selection = [
      ...(type.length === 0 ? [] : [{ name: 'type', value: type.join(',') }]),
      { name: 'id', value: entityId },
      { name: 'attrs', value: attribute },
      ...interval,
    ];
    const page = await this.#lister.page({ selection, limit: 1, isBare: true }).catch((error: unknown) => {
      if (!isNotUnderstood(error)) throw error;
      if (!hasTime(items)) return undefined;
      if (this.#refusedIds.add(entityId).size > MAX_REFUSED_IDS) throw error;
      return { refusal: error.problem };
    });
    if (page === undefined || 'refusal' in page) return page;
    this.#refusedIds.clear();
    const shown = entitiesIn(page)[page.ids.indexOf(entityId)] as JsonObject | undefined;
    return { instances: instancesOf(member(shown ?? {}, attribute)), isPartial: page.isPartial };
  }
}

function bodyOf(items: readonly RestoreItem[]): string {
  const { id = '', type = '' } = items[0]?.entity ?? {};
  const byAttribute = Map.groupBy(items, ({ attribute = '' }) => attribute);
  const attributes = Array.from(
    byAttribute,
    ([name, all]) => [name, all.map(({ content }) => creatableAttribute(content))] as const,
  );
  return JSON.stringify(objectOf([['id', id], ['type', type], ...attributes]));
}

function hasTime([first]: readonly RestoreItem[]): boolean {
  return first !== undefined && timeOf(first.content) !== undefined;
}

/** Groups items for one query each: items of one attribute, in order of time. Items without a time form groups of their own. */
function groupsOf(items: readonly RestoreItem[]): RestoreItem[][] {
  const byAttribute = Map.groupBy(
    items,
    ({ entityId, attribute = '', content }) =>
      `${entityId}\u0000${attribute}\u0000${String(timeOf(content) === undefined)}`,
  );
  return [...byAttribute.values()].flatMap((all) => {
    const sorted = all.toSorted((one, other) => (timeOf(one.content) ?? 0) - (timeOf(other.content) ?? 0));
    const groups: RestoreItem[][] = [];
    for (let at = 0; at < sorted.length; at += MAX_INSTANCES)
      groups.push(sorted.slice(at, at + MAX_INSTANCES));
    return groups;
  });
}

function hasAll(items: readonly RestoreItem[], instances: readonly JsonValue[]): boolean {
  const shown = new Map<string, JsonValue>();
  match(items, instances, shown);
  return shown.size === items.length;
}

/** Notes which items are among the shown instances. */
function match(
  items: readonly RestoreItem[],
  instances: readonly JsonValue[],
  shown: Map<string, JsonValue>,
): void {
  const byContent = Map.groupBy(instances, contentOf);
  for (const { key, content } of items) {
    const instance = byContent.get(contentOf(content))?.pop();
    if (instance !== undefined) shown.set(key, instance);
  }
}

/**
 * Returns the content of an instance as text for comparison. Its time is normalised, because it may be written in several ways.
 */
function contentOf(instance: JsonValue): string {
  const content = creatableAttribute(instance);
  const at = timeOf(instance);
  return canonicalJson(
    isObject(content) && at !== undefined
      ? objectOf([...Object.entries(content), ['observedAt', at]])
      : content,
  );
}

function timeOf(instance: JsonValue): number | undefined {
  const text = isObject(instance) ? instance['observedAt'] : undefined;
  return typeof text === 'string' ? instantOf(text) : undefined;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
