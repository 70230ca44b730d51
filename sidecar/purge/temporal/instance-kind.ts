import { ownType } from '../../ngsi-ld/problem.js';
import { instantOf } from '../../ngsi-ld/q-time.js';
import type { ItemVerdict } from '../batch-reply.js';
import type { PurgeContext } from '../context.js';
import { IdState } from '../id-ledger.js';
import { deleteItem } from '../item-delete.js';
import type { ItemBatch, ItemKind } from '../item-walk.js';
import type { ListedPage } from '../listing.js';
import { resourcePath } from '../resource-path.js';
import { keyOf, type Item } from '../tally.js';
import type { InstanceGuard } from './instance-guard.js';
import { instanceListsOf, type AttributeInstance } from './instances.js';
import { lookBehind, type CutList } from './look-behind.js';
import { firstShape, INSTANCES_MAX, nextShape, type PageShape } from './page-shape.js';
import { NO_DATASET } from './query.js';
import type { TimeFilter } from './time-filter.js';

export interface InstanceKindOptions {
  readonly guard: InstanceGuard;
  readonly time: TimeFilter;
  /** When the purge began, in milliseconds since the epoch. */
  readonly startedMs: number;
  /** Nothing is deleted, so that what the broker leaves out has to be asked for apart. */
  readonly countsOnly: boolean;
}

/** Instances that wait before another page is fetched. */
const PENDING_MAX = 1000;

/**
 * Attribute instances in an interval (clause 5.6.15).
 *
 * A broker may show a part of them only (206, or silently): with those gone it shows others, so that passes over the
 * same query get at them all. Where that does not help, because the shown ones stay or the entity stops matching, the
 * others are looked for behind those shown.
 */
export function instanceKind(context: PurgeContext, options: InstanceKindOptions): ItemKind {
  const { guard, time, countsOnly, startedMs } = options;
  const { pageSize } = context.limits;
  const isChosenByValue = context.selection.some(({ name }) => ['q', 'georel', 'scopeQ'].includes(name));
  let shape: PageShape = countsOnly ? { ...firstShape(pageSize), limit: 1 } : firstShape(pageSize);
  // A count shows itself right at the first look; a delete goes in small steps, and looks again in the end.
  let isBare = countsOnly;
  let needsTimes = time.property !== 'observedAt';
  /** The longest list so far: one as long as that may be cut, a shorter one is not. */
  let longest = 0;
  /** Lists of up to this length turned out to be whole. */
  let provenWhole = 0;

  async function* read(page: ListedPage, indexes: readonly number[]): AsyncGenerator<ItemBatch> {
    const items: Item[] = [];
    const cut: CutList[] = [];
    let longestHere = 0;
    for (const index of indexes) {
      const entityId = page.ids[index] ?? '';
      for (const { attribute, instances } of instanceListsOf(page.entities[index] ?? {}, time.property)) {
        guard.checkAttribute(entityId, attribute);
        const found = itemsOf({ entityId, attribute, instances });
        longestHere = Math.max(longestHere, instances.length);
        items.push(...found);
        if (isCut(page, instances.length)) cut.push({ entityId, attribute, instances });
      }
    }
    longest = Math.max(longest, longestHere);
    shape = shapeAfter({ entities: indexes.length, instances: items.length, longest: longestHere });
    const behind = cut.filter(looksBehind);
    yield { items, mayHideMore: cut.length > 0 };
    for (const list of behind) yield* readBehind(list);
  }

  function isCut(page: ListedPage, length: number): boolean {
    return page.isCut || length >= longest || length >= (page.instances ?? Infinity);
  }

  function looksBehind(list: CutList): boolean {
    if (list.instances.length === 0) return false;
    if (countsOnly || isChosenByValue) return list.instances.length > provenWhole;
    // They stay, and so does what they hide.
    return itemsOf(list).every((item) => context.tally.ledger.get(keyOf(item)) === IdState.failed);
  }

  async function* readBehind(list: CutList): AsyncGenerator<ItemBatch> {
    const came = { more: false, hidden: false };
    const onHidden = () => {
      came.hidden = true;
    };
    for await (const instances of lookBehind(context, list, time, onHidden)) {
      came.more = true;
      yield { items: itemsOf({ ...list, instances }) };
    }
    if (came.hidden) yield { items: [], isIncomplete: true };
    else if (!came.more) provenWhole = Math.max(provenWhole, list.instances.length);
  }

  function itemsOf({ entityId, attribute, instances }: CutList): Item[] {
    return instances.map((instance) => {
      guard.checkInstance(entityId, attribute, instance);
      return toItem(entityId, attribute, instance, time);
    });
  }

  function shapeAfter(shown: { entities: number; instances: number; longest: number }): PageShape {
    const next = nextShape(isBare ? { ...shape, instances: Infinity } : shape, shown, pageSize);
    return isBare ? { ...shape, limit: next.limit } : next;
  }

  return {
    read,
    remove: (item) => removeInstance(context, item, time),
    stillThere: {
      status: 409,
      title: 'Instance still listed',
      detail: 'The broker answered two deletes as done, and still shows the instance.',
    },
    hasArrived: ({ time: times }) => {
      // Asked when there seems to be no end: from now on the broker is to show when it took them in.
      needsTimes = true;
      const at = times?.['createdAt'] ?? times?.[time.property];
      return at !== undefined && (instantOf(at) ?? 0) > startedMs;
    },
    shape: () => ({ ...shape, needsTimes, ...(isBare ? { instances: INSTANCES_MAX, isBare } : {}) }),
    // Some brokers take the most recent instances first, and then look which of them lie in the interval.
    looksAgain() {
      if (isBare) return false;
      isBare = true;
      shape = firstShape(pageSize);
      return true;
    },
    pendingMax: PENDING_MAX,
  };
}

function toItem(entityId: string, attribute: string, instance: AttributeInstance, time: TimeFilter): Item {
  return {
    entityId,
    attribute,
    ...(instance.instanceId === undefined ? {} : { instanceId: instance.instanceId }),
    ...(instance.digest === undefined ? {} : { digest: instance.digest }),
    ...(instance.datasetId === NO_DATASET ? {} : { datasetId: instance.datasetId }),
    ...timesOf(instance, time),
  };
}

function timesOf({ time, createdAt }: AttributeInstance, { property }: TimeFilter): Pick<Item, 'time'> {
  if (time === undefined && createdAt === undefined) return {};
  return {
    time: {
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(time === undefined ? {} : { [property]: time }),
    },
  };
}

async function removeInstance(context: PurgeContext, item: Item, time: TimeFilter): Promise<ItemVerdict> {
  if (item.instanceId === undefined)
    return refused('instance-without-id', 'Instance without instanceId', WITHOUT_ID);
  if (time.property === 'observedAt' && item.time?.['observedAt'] === undefined) {
    return refused('instance-without-time', 'Instance without observedAt', WITHOUT_TIME);
  }
  return deleteItem(context.requester, item, {
    path: resourcePath('/temporal/entities', item.entityId, item.attribute, item.instanceId),
    operation: 'delete an attribute instance',
  });
}

const WITHOUT_ID =
  'The broker shows no instanceId, without which the one instance cannot be deleted; a wider delete would take others with it.';
const WITHOUT_TIME =
  'The broker shows the instance without observedAt, so that nobody can tell whether it lies in the interval.';

function refused(name: string, title: string, detail: string): ItemVerdict {
  return { kind: 'refused', problem: { type: ownType(name), status: 501, title, detail } };
}
