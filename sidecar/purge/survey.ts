import type { BrokerProblem } from './broker/broker-problem.js';
import type { PurgeContext } from './context.js';
import { IdStates, IdState } from './id-states.js';
import type { ListedPage } from './listing/listing.js';
import { walkMatches, type WalkEnd } from './listing/walk.js';

/** What the query still shows, sorted by what is known of each id. */
export interface Survey extends WalkEnd {
  /** New ids; empty unless `takesFresh`. */
  readonly fresh: readonly string[];
  /** Number of new ids, taken or not. */
  readonly unseen: number;
  /** Reported as deleted at the first try, and still listed. */
  readonly stillListed: readonly string[];
  /** The first try failed for a reason that may pass. */
  readonly retryDue: readonly string[];
  /** Number of ids reported as deleted twice, still listed, and not yet recorded as failed. */
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
  /** Record ids as failed that were reported as deleted twice and are still listed. */
  readonly reportsLingering: boolean;
}

/**
 * Ids that one survey collects; the next survey finds the rest. Where new ids are left, a survey ends after this many more
 * than the purge has taken: they may arrive as fast as they are listed, and the broker may give no count that shows it.
 */
export const MAX_FINDINGS = 32_000;

const STILL_LISTED: BrokerProblem = {
  status: 409,
  title: 'Entity still listed',
  detail: 'The broker confirmed two deletes and still lists the entity.',
};

const DENIED_AND_LISTED: BrokerProblem = {
  ...STILL_LISTED,
  detail: 'The broker answered two deletes with 404 and still lists the entity.',
};

/** Lists what the query still shows while nothing is being deleted. */
export async function surveyMatches(context: PurgeContext, options: SurveyOptions): Promise<Survey> {
  const { selection, lister, paging, requester, ledger } = context;
  const { states } = ledger;
  const fresh = new Set<string>();
  const stillListed: string[] = [];
  const retryDue: string[] = [];
  const wanted = Math.min(options.wanted, MAX_FINDINGS);
  const unseen = new UnseenIds(options.takesFresh ? fresh : undefined);
  let lingering = 0;

  states.startSurvey();
  const isNew = (entityId: string): boolean => {
    const state = states.get(entityId);
    if (state === IdState.unknown) return unseen.note(entityId);
    if (!states.markListed(entityId)) return false;
    if (state === IdState.gone || state === IdState.absent) stillListed.push(entityId);
    if (state === IdState.retryDue) retryDue.push(entityId);
    if (state === IdState.goneTwice || state === IdState.absentTwice) {
      const problem = state === IdState.goneTwice ? STILL_LISTED : DENIED_AND_LISTED;
      if (options.reportsLingering) ledger.recordStillListed({ entityId }, problem);
      else lingering += 1;
    }
    return true;
  };

  const walk = walkMatches({
    lister,
    selection,
    countsUnshown: context.countsUnshown,
    waitBefore: (look) => requester.waitBefore(look),
    isNew,
    first: options.first,
    paging,
    from: options.from,
    wanted,
    concurrency: context.limits.concurrency,
  });
  let end: WalkEnd = { complete: false, trickles: false, unlisted: 0, lastCount: undefined };
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      end = step.value;
      break;
    }
    if (fresh.size >= wanted || fresh.size + stillListed.length + retryDue.length >= MAX_FINDINGS) break;
    if (unseen.size > ledger.matched + MAX_FINDINGS) {
      end = { ...end, trickles: true };
      break;
    }
  }
  return {
    ...end,
    fresh: [...fresh],
    unseen: unseen.size,
    stillListed,
    retryDue,
    lingering,
  };
}

/** New ids: collected when they are wanted, otherwise only counted by hash. */
class UnseenIds {
  readonly #ids: Set<string> | undefined;
  readonly #hashes = new IdStates();

  constructor(ids: Set<string> | undefined) {
    this.#ids = ids;
  }

  get size(): number {
    return this.#ids?.size ?? this.#hashes.size;
  }

  note(id: string): boolean {
    const before = this.size;
    if (this.#ids !== undefined) this.#ids.add(id);
    else this.#hashes.set(id, IdState.pending);
    return this.size > before;
  }
}
