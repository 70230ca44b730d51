import type { Survey } from './survey.js';

/** What a closing remembers from round to round. */
export interface ClosingState {
  /** Never-seen ids were taken from a survey that had shown everything: what turns up later has arrived since. */
  readonly hasSwept: boolean;
  /** Sweeps for never-seen ids after that, where no count tells old ones from new. */
  readonly lateSweeps: number;
  /** Waits spent on a query that may lag behind the deletes. */
  readonly rechecks: number;
}

/** What is known when a round is decided. */
export interface ClosingFacts {
  /** Matches counted before the first delete, where that can be trusted. */
  readonly counted: number | undefined;
  /** Ids taken so far. */
  readonly taken: number;
  /** Ids that may still be taken under the purge's maximum; Infinity without one. */
  readonly allowance: number;
}

export type ClosingStep =
  /** There is something to delete or to try again. */
  | { readonly kind: 'work'; readonly state: ClosingState }
  /** The query may lag behind: wait, and look again. */
  | { readonly kind: 'recheck'; readonly state: ClosingState }
  | { readonly kind: 'finish' };

/** Looks at something that should have changed before it is reported: brokers may answer queries from a stale index. */
export const MAX_RECHECKS = 3;

/** Pages without a fixed order pass over some matches; so many more sweeps find them where nothing is counted. */
const MAX_LATE_SWEEPS = 3;

export const initialClosing: ClosingState = { hasSwept: false, lateSweeps: 0, rechecks: 0 };

/**
 * Whether ids never seen before are to be taken: in the first full sweep, and beyond it only while fewer were taken
 * than the broker had counted, or a few times where it had not. Others arrived while the purge ran, and are not chased;
 * nor are they where the maximum is reached by those that were counted.
 */
export function takesFresh(state: ClosingState, { counted, taken, allowance }: ClosingFacts): boolean {
  if (counted === undefined) return !state.hasSwept || state.lateSweeps < MAX_LATE_SWEEPS;
  return allowance > 0 && (taken < counted || !state.hasSwept);
}

/** Decides what follows a survey. */
export function planClosing(survey: Survey, state: ClosingState, facts: ClosingFacts): ClosingStep {
  const { counted, taken } = facts;
  const again = survey.stillListed.length + survey.retryDue.length;
  if (survey.fresh.length + again > 0) {
    // A query may lag behind the deletes for a moment, which is no reason to repeat them all.
    const mayLag = survey.stillListed.length > 0 && survey.fresh.length + survey.retryDue.length === 0;
    if (mayLag && state.rechecks === 0) return recheck(state);
    const hasSwept = state.hasSwept || survey.complete || survey.trickles || counted !== undefined;
    const isLate = state.hasSwept && survey.fresh.length > 0;
    return { kind: 'work', state: { ...state, hasSwept, lateSweeps: state.lateSweeps + (isLate ? 1 : 0) } };
  }
  // Counted, not taken and not shown: gone by another hand, or an error shown as an empty result.
  const isShort = counted !== undefined && taken < counted;
  const isPartial = !survey.complete && !survey.trickles;
  if ((survey.lingering > 0 || isPartial || isShort) && state.rechecks < MAX_RECHECKS) return recheck(state);
  return { kind: 'finish' };
}

function recheck(state: ClosingState): ClosingStep {
  return { kind: 'recheck', state: { ...state, rechecks: state.rechecks + 1 } };
}
