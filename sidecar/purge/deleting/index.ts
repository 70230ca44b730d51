/** Deletes listed items while their list is fresh, and finds out what became of items whose delete got no clear answer. */
export { RepeatedTries, ListAhead, deleteIds, isHopeless, isStaleSince } from './delete-listed.js';
export { Deleter, type DeletingContext, givenUp } from './deleter.js';
export { keepParts } from './keep-listed.js';
export { Dispatcher } from './dispatcher.js';
export { deleteSingly, runFinalRetries } from './final-retries.js';
export {
  type ItemBatch,
  type ItemKind,
  WHOLE_ENTITIES,
  countItems,
  pagesById,
  portionsOf,
  resolveUnclear,
  resolveUnclearAtEnd,
  selectsByValue,
  walkItems,
  withIds,
} from './items.js';
export { type Sorted, isCreatedBefore, sortReappeared } from './reappeared.js';
export { MAX_RECHECKS, type Survey, surveyMatches } from './survey.js';
