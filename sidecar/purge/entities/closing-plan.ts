import { MAX_RECHECKS, type Survey } from '../deleting/index.js';

/** What is carried over from round to round. */
export interface ClosingState {
  /** New ids were taken from a complete survey: later ones arrived during the purge. */
  readonly hasSwept: boolean;
  /** Later sweeps for new ids, when the broker gives no count. */
  readonly lateSweeps: number;
  /** Times the purge has waited because the query may lag behind the deletes. */
  readonly rechecks: number;
}

/** The facts that decide a round. */
export interface ClosingFacts {
  /** Matches counted before the first delete, where that can be trusted. */
  readonly counted: number | undefined;
  /** Ids taken so far. */
  readonly taken: number;
  /** Ids that may still be taken under the purge's maximum; Infinity without one. */
  readonly allowance: number;
}

export type ClosingStep =
  /** Delete or retry something. */
  | { readonly kind: 'work'; readonly state: ClosingState }
  /** Wait and query again: the query may lag behind. */
  | { readonly kind: 'recheck'; readonly state: ClosingState }
  | { readonly kind: 'finish' };

/** Pages without a fixed order skip some matches; without a count, this many more sweeps find them. */
const MAX_LATE_SWEEPS = 3;

export const initialClosing: ClosingState = { hasSwept: false, lateSweeps: 0, rechecks: 0 };

/**
 * Whether to take new ids: in the first full sweep, and later only while fewer were taken than the broker had counted,
 * or a few times without a count. Other ids arrived during the purge and are left, as they are once the counted ones
 * reach the maximum.
 */
export function takesFresh(state: ClosingState, { counted, taken, allowance }: ClosingFacts): boolean {
  if (counted === undefined) return !state.hasSwept || state.lateSweeps < MAX_LATE_SWEEPS;
  return allowance > 0 && (taken < counted || !state.hasSwept);
}

/** Decides what follows a survey. */
export function planClosing(survey: Survey, state: ClosingState, facts: ClosingFacts): ClosingStep {
  const { counted, taken } = facts;
  const again = survey.missing.length + survey.retryDue.length;
  if (survey.fresh.length + again > 0) {
    // A query may lag behind the deletes for a moment: do not repeat them all yet.
    const mayLag = survey.fresh.length + survey.retryDue.length === 0;
    if (mayLag && state.rechecks === 0) return recheck(state);
    const hasSwept = state.hasSwept || survey.complete || survey.trickles || counted !== undefined;
    const isLate = state.hasSwept && survey.fresh.length > 0;
    return { kind: 'work', state: { ...state, hasSwept, lateSweeps: state.lateSweeps + (isLate ? 1 : 0) } };
  }
  // Counted, but neither taken nor shown: deleted by another client, or an error shown as an empty result.
  const isShort = counted !== undefined && taken < counted;
  const isPartial = !survey.complete && !survey.trickles;
  if ((survey.lingering > 0 || isPartial || isShort) && state.rechecks < MAX_RECHECKS) return recheck(state);
  return { kind: 'finish' };
}

function recheck(state: ClosingState): ClosingStep {
  return { kind: 'recheck', state: { ...state, rechecks: state.rechecks + 1 } };
}
