import type { BrokerProblem } from './broker/broker-problem.js';
import type { PurgeContext } from './context.js';
import { IdStates, IdState } from './id-states.js';
import type { ListedPage } from './listing/listing.js';
import { walkMatches, type WalkEnd } from './listing/walk.js';

/** What the query still shows, sorted by what is known of each id. */
export interface Survey extends WalkEnd {
  /** Ids never seen before, where they are to be taken. */
  readonly fresh: readonly string[];
  /** Number of ids never seen before, taken or not. */
  readonly unseen: number;
  /** Claimed gone after the first try, and still listed. */
  readonly stillListed: readonly string[];
  /** First try failed for a reason that may pass. */
  readonly retryDue: readonly string[];
  /** Number of ids claimed gone after the second try, still listed, and not yet reported. */
  readonly lingering: number;
}

export interface SurveyOptions {
  /** A page already fetched at offset 0, as the first of the survey. */
  readonly first?: ListedPage | undefined;
  /** Offset to begin at. */
  readonly from: number;
  /** Never-seen ids that are enough. */
  readonly wanted: number;
  /** Whether ids never seen before are to be taken. */
  readonly takesFresh: boolean;
  /** Ids claimed gone twice and still listed are reported as failed now. */
  readonly reportsLingering: boolean;
}

/** Ids with something to do that one survey holds; the rest is found by the next. */
const MAX_FINDINGS = 32_000;

const STILL_LISTED: BrokerProblem = {
  status: 409,
  title: 'Entity still listed',
  detail: 'The broker answered two deletes as done, and still lists the entity.',
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
      if (options.reportsLingering) ledger.recordStillListed({ entityId }, STILL_LISTED);
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

/** Ids never seen before: kept where they are to be taken, else only told apart by hash. */
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
