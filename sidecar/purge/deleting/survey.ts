import type { BrokerProblem } from '../broker/index.js';
import type { PurgeContext } from '../run/index.js';
import { keepEntities } from './keep-listed.js';
import { type Listed, type ListedPage, walkMatches, type WalkEnd } from '../listing/index.js';
import { IdStates, IdState, isGone } from '../ledger/index.js';

/** How often to query something that should have changed before it is reported: brokers may answer from a stale index. */
export const MAX_RECHECKS = 3;

/** What the query still shows, sorted by what is known about each id. */
export interface Survey extends WalkEnd {
  /** The first page that has something to delete. */
  readonly listed: Listed;
  /** New ids; empty unless `takesFresh`. */
  readonly fresh: readonly string[];
  /** Number of new ids, taken or not. */
  readonly unseen: number;
  /** Number of ids that the plan of the purge does not have. */
  readonly unplanned: number;
  /** Ids that count as deleted and are listed again; at most MAX_FINDINGS of `reappearedCount`. */
  readonly reappeared: readonly string[];
  readonly reappearedCount: number;
  /** Ids that were reported as missing at the first try, and are listed. */
  readonly missing: readonly string[];
  /** Ids whose first try failed for a reason that may pass, or did not come to an end. */
  readonly retryDue: readonly string[];
  /** Number of ids reported as missing twice, listed, and not yet recorded as failed. */
  readonly lingering: number;
}

export interface SurveyOptions {
  /** A page already fetched at offset 0, as the first of the survey. */
  readonly first?: ListedPage | undefined;
  /** Offset to begin at. */
  readonly from: number;
  /** Stop after this many new ids. */
  readonly wanted: number;
  /** Collect new ids. */
  readonly takesFresh: boolean;
  /** End before the new ids get too old to be deleted, although there may be more. */
  readonly isBrief: boolean;
  /** Record ids as failed that were reported as missing twice and are listed. */
  readonly reportsLingering: boolean;
}

/**
 * Maximum number of ids of each kind that one survey collects; the next survey finds the rest. If new ids are left alone, a
 * survey ends after this many more than the purge has taken: they may arrive as fast as they are listed, and the broker may
 * give no count that shows it.
 */
const MAX_FINDINGS = 32_000;

/** Maximum duration of a listing; otherwise what is to be deleted would get too old. */
const MAX_LISTING_MS = 1000;

const STILL_LISTED: BrokerProblem = {
  status: 409,
  title: 'Entity still listed',
  detail: 'The broker answered that the entity is gone, but still lists it.',
};

/** Lists what the query still shows while nothing is being deleted. */
export async function surveyMatches(context: PurgeContext, options: SurveyOptions): Promise<Survey> {
  const { requester, ledger, plan } = context;
  const { states } = ledger;
  const fresh = new Set<string>();
  const reappeared: string[] = [];
  const missing: string[] = [];
  const retryDue: string[] = [];
  const wanted = Math.min(options.wanted, MAX_FINDINGS);
  const pageMax = wanted + states.count(IdState.failed, IdState.retryDue);
  const isRecent = (options.first?.atMs ?? -Infinity) > context.clock.monotonicMs() - MAX_LISTING_MS;
  const first = isRecent ? options.first : undefined;
  /** New ids that are not collected. */
  const left = new IdStates();
  let reappearedCount = 0;
  let lingering = 0;
  const unplanned = new IdStates();
  /** Ids of the current page that may be deleted soon. */
  const toKeep: string[] = [];

  states.startSurvey();
  const isNew = (entityId: string): boolean => {
    const state = states.get(entityId);
    if (plan?.has(entityId) === false) return unplanned.add(entityId);
    const isTaken = options.takesFresh || state !== IdState.unknown;
    if (context.archiving !== undefined && context.histories === undefined && isTaken) toKeep.push(entityId);
    if (state === IdState.unknown) {
      if (!options.takesFresh) return left.add(entityId);
      const before = fresh.size;
      return fresh.add(entityId).size > before;
    }
    if (!states.markListed(entityId)) return false;
    if (isGone(state)) {
      reappearedCount += 1;
      if (reappeared.length < MAX_FINDINGS) reappeared.push(entityId);
    }
    if (state === IdState.absent && missing.length < MAX_FINDINGS) missing.push(entityId);
    // Nothing is in flight now. An id that is still pending was not deleted: for example, it was refused in a batch, and then
    // got too old to be sent alone.
    const isDue = state === IdState.retryDue || state === IdState.pending;
    if (isDue && retryDue.length < MAX_FINDINGS) retryDue.push(entityId);
    if (state === IdState.absentTwice) {
      if (options.reportsLingering) ledger.recordStillListed({ entityId }, STILL_LISTED);
      else lingering += 1;
    }
    return true;
  };

  let listed: Listed | undefined;
  const timeLeftMs = () =>
    listed === undefined ? Infinity : listed.atMs + MAX_LISTING_MS - context.clock.monotonicMs();
  const walk = walkMatches({
    ...context,
    ...(options.isBrief ? { timeLeftMs } : {}),
    isNew,
    first,
    from: options.from,
    wanted,
    concurrency: context.limits.concurrency,
    // A purge with a rate lists no further ahead than it needs, besides the ids that stay listed in front.
    ...(requester.burst < Infinity && pageMax < context.limits.pageSize
      ? { shape: () => ({ limit: pageMax }) }
      : {}),
  });
  let end: WalkEnd = { complete: false, trickles: false, unlisted: 0, lastCount: undefined };
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      end = step.value;
      break;
    }
    if (toKeep.length > 0) await keepEntities(context, step.value, toKeep.splice(0));
    if (fresh.size + missing.length + retryDue.length > 0) listed ??= step.value;
    if (fresh.size >= wanted) break;
    if (timeLeftMs() < 0 && (options.isBrief || fresh.size === 0)) break;
    if (left.size > ledger.matched + MAX_FINDINGS) {
      end = { ...end, trickles: true };
      break;
    }
  }
  return {
    ...end,
    listed: listed ?? { atMs: context.clock.monotonicMs(), tookMs: 0 },
    fresh: [...fresh],
    unseen: options.takesFresh ? fresh.size : left.size,
    unplanned: unplanned.size,
    reappeared,
    reappearedCount,
    missing,
    retryDue,
    lingering,
  };
}
