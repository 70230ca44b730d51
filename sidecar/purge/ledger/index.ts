/** Records the state of each item of a purge. */
export { IdState, IdStates, isGone } from './id-states.js';
export { itemProblem, problemOfFailure } from './item-problem.js';
export {
  type Item,
  type ItemError,
  ItemLedger,
  type ItemOutcome,
  type OnOutcome,
  type PurgeCounts,
  keyOf,
} from './ledger.js';
