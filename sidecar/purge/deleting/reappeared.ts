/**
 * Entities that count as deleted and that the query lists again: the query lags behind, the delete had no effect, or somebody
 * made them again. They count as made again unless the broker shows that they are the old ones.
 */
import { entitiesIn } from '../listing/index.js';
import { parseJsonObject, type BrokerProblem, type DeleteResult } from '../broker/index.js';
import type { PurgeContext } from '../run/index.js';
import { unlessQueryRefused } from '../errors.js';
import { isStaleSince } from './delete-listed.js';
import { IdState } from '../ledger/index.js';
import { entityPath } from '../proof/index.js';
import { isAskable } from '../query/index.js';
import type { Survey } from './survey.js';
import { instantOf } from '../../ngsi-ld/q-time.js';
import type { DeletingContext } from './deleter.js';
import { portionsOf, withIds } from './items.js';

/** An entity counts as old only if it was created at least this long before the purge began, because clocks differ. */
const CLOCK_SKEW_MS = 60_000;

/** The search for old entities stops after this time, so that they are dealt with; the next survey lists the others again. */
const MAX_LOOK_MS = 1000;

/** Statuses that refuse a query for its content, such as many ids next to other filters. */
const QUERY_REFUSED = [400, 414, 422, 501] as const;

/** Number of old entities to ask for by their own paths, to find out whether the query lags behind. */
const LAG_SAMPLE = 5;

const STILL_LISTED: BrokerProblem = {
  status: 409,
  title: 'Entity still listed',
  detail: 'The broker confirmed the delete, but still lists the entity, which was created before the delete.',
};

const UNDECIDED =
  'The broker confirmed deletes and lists the entities again, without a createdAt. They ' +
  'count as created anew, and were left. If they are the old ones, the deletes had no effect.';

const BEHIND =
  'The query still lists entities that the broker shows as gone when they are asked for one by one. They count as deleted.';

/**
 * The times of creation of entities, as the broker writes them; without entities that it does not show, or shows without one.
 */
export type CreationTimes = ReadonlyMap<string, string>;

/** What to do about the entities that a survey lists again after their delete. */
export interface Sorted {
  /** Number of entities that may be the old ones, or that a lagging query may still list. */
  readonly lingering: number;
  /** To be deleted once more, singly: they are the old ones, so the first delete had no effect on them. */
  readonly untouched: readonly string[];
  /**
   * Whether there are more of them than were looked at. Some that were looked at are settled, so the next survey finds others.
   */
  readonly hasMore: boolean;
}

/**
 * Decides what the entities are that a survey lists again after their delete. Those that were made again are marked so, and are
 * left alone. Those that were created before the purge are tried once more, or recorded as failed if that has happened already.
 *
 * @param isLast whether this is the last look: what stays undecided counts as made again
 */
export async function sortReappeared(
  context: DeletingContext,
  survey: Survey,
  isLast: boolean,
): Promise<Sorted> {
  const { ledger } = context;
  const madeAgainBefore = ledger.madeAgain;
  const { old, undecided, isWhole } = await sortByCreation(context, survey.reappeared, isLast);
  const isOverfull = survey.reappearedCount > survey.reappeared.length;
  const hasMore = isOverfull && ledger.madeAgain > madeAgainBefore;
  const lingering = old.size + undecided;
  if (!isLast || old.size === 0) return { lingering, untouched: [], hasMore };
  const ids = [...old.keys()];
  if (await isBehind(context, ids)) {
    context.warn(BEHIND);
    return { lingering, untouched: [], hasMore };
  }
  const isFirstTry = (id: string) => ledger.states.get(id) === IdState.gone;
  for (const entityId of ids) if (!isFirstTry(entityId)) ledger.recordStillListed({ entityId }, STILL_LISTED);
  if (hadNoEffect(ledger, survey, old)) await learnIdleBatches(context, ids.filter(isFirstTry));
  // Each of these is recorded by now, or will be tried again, so the next survey gets further.
  return { lingering: 0, untouched: ids.filter(isFirstTry), hasMore: isOverfull || !isWhole };
}

async function sortByCreation(
  context: PurgeContext,
  ids: readonly string[],
  isLast: boolean,
): Promise<{ readonly old: CreationTimes; readonly undecided: number; readonly isWhole: boolean }> {
  const { ledger, clock } = context;
  const beganMs = clock.monotonicMs();
  const old = new Map<string, string>();
  const open = ids.filter((id) => !isAskable(id));
  let areAllNew = false;
  let isWhole = true;
  for (const items of portionsOf(ids.map((entityId) => ({ entityId })))) {
    const portion = items.map(({ entityId }) => entityId);
    // If a whole portion is new, the others are considered new as well: looking at thousands of portions would take too long.
    const times: CreationTimes = areAllNew ? new Map() : await creationTimesOf(context, portion);
    const isNew = (id: string) =>
      areAllNew || (times.has(id) && !isCreatedBefore(context, times.get(id) ?? ''));
    const added = portion.filter(isNew);
    for (const entityId of added) ledger.markMadeAgain({ entityId });
    for (const id of portion) {
      const createdAt = times.get(id);
      if (createdAt === undefined && !areAllNew) open.push(id);
      else if (createdAt !== undefined && !isNew(id)) old.set(id, createdAt);
    }
    areAllNew = added.length === portion.length;
    // They may have to be deleted soon after they were looked at.
    if (old.size > 0 && clock.monotonicMs() - beganMs > MAX_LOOK_MS) {
      isWhole = false;
      break;
    }
  }
  if (!isLast || open.length === 0) return { old, undecided: open.length, isWhole };
  context.warn(UNDECIDED);
  for (const entityId of open) ledger.markMadeAgain({ entityId });
  return { old, undecided: 0, isWhole };
}

/**
 * Queries when entities were created, by id in addition to the query. If the broker refuses that, no times are known.
 *
 * @param ids as many as one query can name
 */
export async function creationTimesOf(context: PurgeContext, ids: readonly string[]): Promise<CreationTimes> {
  const times = new Map<string, string>();
  const open = new Set(ids);
  while (open.size > 0) {
    const selection = withIds(context.selection, open);
    const query = { selection, limit: open.size, needsTimes: true };
    const page = await unlessQueryRefused(context.lister.page(query), QUERY_REFUSED);
    if (page === undefined) break;
    const shown = page.ids.filter((id) => open.delete(id));
    // A page may hold fewer than are asked for.
    if (shown.length === 0) break;
    for (const [index, id] of page.ids.entries()) {
      const createdAt = entitiesIn(page)[index]?.['createdAt'];
      if (typeof createdAt === 'string') times.set(id, createdAt);
    }
  }
  return times;
}

/** Whether the query lags behind: the broker has none of a sample of what it lists. */
async function isBehind(context: PurgeContext, ids: readonly string[]): Promise<boolean> {
  for (const id of ids.slice(0, LAG_SAMPLE)) if ((await retrieve(context, id)) !== 'gone') return false;
  return true;
}

/**
 * Whether no delete had an effect, whatever the broker answered: all entities are still listed, and were created before the
 * purge.
 */
function hadNoEffect({ states }: PurgeContext['ledger'], survey: Survey, old: CreationTimes): boolean {
  const { gone, goneTwice, absent, absentTwice, madeAgain } = IdState;
  const reportedGone = states.count(gone, goneTwice, absent, absentTwice, madeAgain);
  const areAllOld = old.size === survey.reappeared.length;
  return areAllOld && reportedGone === survey.reappearedCount + survey.missing.length;
}

/**
 * Deletes one old entity by a batch of its own. If it exists afterwards with the same time of creation, batch deletes have no
 * effect at this broker. This is learnt.
 */
async function learnIdleBatches(context: DeletingContext, [entityId]: readonly string[]): Promise<void> {
  const { capabilities, deleter, ledger, limits } = context;
  if (entityId === undefined || limits.strategy !== 'auto' || !deleter.usesBatches) return;
  const before = await retrieve(context, entityId);
  // It must still match: the survey was a while ago.
  if (typeof before === 'string' || !(await creationTimesOf(context, [entityId])).has(entityId)) return;
  const kinds: DeleteResult['kind'][] = [];
  const isStale = isStaleSince(context.clock, { atMs: context.clock.monotonicMs(), tookMs: 0 });
  await deleter.deleteBatch([entityId], (_id, { kind }) => kinds.push(kind), isStale);
  // Only an answer counts: a batch that was lost has no effect either.
  const wasAnswered = kinds.includes('deleted') || kinds.includes('absent');
  const after = await retrieve(context, entityId);
  if (typeof after === 'string') {
    if (kinds.includes('deleted')) ledger.record({ entityId }, { kind: 'deleted' }, true);
  } else if (wasAnswered && after.createdAt === before.createdAt) capabilities.learn('no-batch', true);
}

/** Retrieves one entity by its path. Returns when it was created, whether it is gone, or `unknown`. */
async function retrieve(
  { requester, resource }: PurgeContext,
  id: string,
): Promise<{ readonly createdAt: string } | 'gone' | 'unknown'> {
  const found = entityPath(resource.path, id);
  if (found === undefined) return 'unknown';
  const path = `${found.path}?options=sysAttrs`;
  const settled = await requester.send({
    method: 'GET',
    path,
    operation: 'show an entity',
    item: id,
    accepts403: true,
  });
  if (settled.kind === 'gave-up') return 'unknown';
  if (settled.reply.status === 404) return 'gone';
  const body = settled.reply.status === 200 ? parseJsonObject(settled.reply.body) : undefined;
  const createdAt = body?.['createdAt'];
  return body?.['id'] === id && typeof createdAt === 'string' ? { createdAt } : 'unknown';
}

/** Whether something was certainly created before the purge began. @param createdAt as the broker writes it */
export function isCreatedBefore({ startedMs }: Pick<PurgeContext, 'startedMs'>, createdAt: string): boolean {
  const at = instantOf(createdAt);
  return at !== undefined && at + CLOCK_SKEW_MS < startedMs();
}
