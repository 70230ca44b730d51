import type { PurgeContext } from './context.js';
import { IdState } from './id-ledger.js';
import type { ListedPage } from './listing.js';
import { walkMatches, type WalkEnd } from './walk.js';

/** What the query still shows, sorted by what is known of each id. */
export interface Survey extends WalkEnd {
  /** Never seen before. */
  readonly fresh: readonly string[];
  /** Claimed gone after the first try, and still listed. */
  readonly claimedGone: readonly string[];
  /** First try failed for a reason that may pass. */
  readonly unsettled: readonly string[];
  /** Claimed gone after the second try, and still listed. */
  readonly claimedGoneTwice: readonly string[];
}

/** Ids with something to do that one survey holds; the rest is found by the next. */
const FINDINGS_MAX = 10_000;

/**
 * Lists what the query still shows while nothing is being deleted.
 *
 * @param first a page already fetched at offset 0, as the first of the survey
 */
export async function surveyMatches(context: PurgeContext, first?: ListedPage): Promise<Survey> {
  const { query, lister, counts, requester, tally } = context;
  const { ledger } = tally;
  const fresh = new Set<string>();
  const byState = new Map<IdState, string[]>([
    [IdState.gone, []],
    [IdState.unsettled, []],
    [IdState.goneTwice, []],
  ]);
  ledger.startSurvey();
  const isNew = (id: string): boolean => {
    const state = ledger.get(id);
    if (state === IdState.unknown) {
      const isFirst = !fresh.has(id);
      fresh.add(id);
      return isFirst;
    }
    if (!ledger.markListed(id)) return false;
    byState.get(state)?.push(id);
    return true;
  };
  const findings = () => fresh.size + [...byState.values()].reduce((sum, ids) => sum + ids.length, 0);

  const walk = walkMatches({
    lister: {
      page: async (pageQuery) => {
        const page = await lister.page(pageQuery);
        context.note(page);
        return page;
      },
    },
    selection: query.selection,
    waitBefore: (look) => requester.waitBefore(look),
    isNew,
    first,
    counts,
  });
  let end: WalkEnd = { complete: false, trickles: false, unlisted: 0, lastCount: undefined };
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      end = step.value;
      break;
    }
    if (findings() >= FINDINGS_MAX) break;
  }
  return {
    ...end,
    fresh: [...fresh],
    claimedGone: byState.get(IdState.gone) ?? [],
    unsettled: byState.get(IdState.unsettled) ?? [],
    claimedGoneTwice: byState.get(IdState.goneTwice) ?? [],
  };
}
