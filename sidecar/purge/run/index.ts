/** Runs one purge: what its parts share, and what it sees of the broker through a query. */
export type {
  AppliedPlan,
  BrokerQuery,
  HistoryArchive,
  PurgeContext,
  PurgeDependencies,
  PurgeEvent,
  PurgeLimits,
  PurgeOrder,
  PurgePlan,
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
  previewOf,
  requireListed,
  trustedTotal,
} from './matches.js';
export { reportOf, runPurge } from './purge-run.js';
