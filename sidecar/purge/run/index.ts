/** One purge: how it runs, what its parts share, and what it sees of the broker through a query. */
export type {
  AppliedPlan,
  BrokerQuery,
  HistoryArchive,
  PurgeContext,
  PurgeEvent,
  PurgeLimits,
  PurgeProgress,
  PurgeReport,
  PurgeScope,
  QueryView,
} from './purge.js';
export {
  type Preview,
  checkBound,
  countMatches,
  firstPage,
  previewEntities,
  requireListed,
  trustedTotal,
} from './matches.js';
export { type PurgeDependencies, type PurgeOrder, previewOf, reportOf, runPurge } from './purge-run.js';
