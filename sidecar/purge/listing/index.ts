/** Lists the matches of a query page by page, in ways that the broker accepts, and tells when there are no more. */
export { Lister, type PageSource, pagesUpTo } from './lister.js';
export {
  type Listed,
  type ListedPage,
  type ListedResource,
  type ParsedPage,
  type PageQuery,
  type PageShape,
  type ReadIds,
  entities,
  entitiesIn,
  parsePage,
  readPage,
  REPLACED,
  temporalEntities,
} from './page.js';
export type { PagingEvidence, WalkEnd } from './walk-plan.js';
export { walkMatches } from './walk.js';
