/**
 * The purge engine, for those that start purges: jobs, the HTTP interface and the command line. A purge deletes what a query
 * matches, and nothing else, whatever the broker does. Its rooms, top to bottom: temporal, entities, attributes, deleting, run,
 * proof, listing, requests, query, archiving, ledger, broker. Each imports those below it, through their faces.
 */
export {
  type EntityPurgeQuery,
  listEntities,
  type MatchPage,
  parseEntityPurgeQuery,
  parseScanQuery,
  purgeEntities,
} from './entities/index.js';
export {
  BrokerFailedError,
  BrokerRefusedError,
  FilterIgnoredError,
  PolicyRefusedError,
  PurgeError,
  PurgeStoppedError,
  QueryRefusedError,
  TooManyMatchesError,
  TooManyPurgesError,
  UnexpectedEntityError,
  UnsupportedRequestError,
  outcomeOf,
  unlessStopped,
} from './errors.js';
export type { Item, ItemOutcome, OnOutcome } from './ledger/index.js';
export { archivedKeys, type PurgeArchive } from './archiving/index.js';
export {
  ENTITY_PARAMETERS,
  type PurgeParameters,
  type PurgeQuery,
  TEMPORAL_PARAMETERS,
  type WholeTenant,
  contextOfRequest,
  cutoffOf,
  olderThan,
  queryText,
} from './query/index.js';
export { type AskedRate, type DoneSoFar, Pace } from './requests/index.js';
export {
  type AppliedPlan,
  type PurgeDependencies,
  type PurgeEvent,
  type PurgeLimits,
  type PurgeOrder,
  type PurgeProgress,
  type PurgeReport,
} from './run/index.js';
export {
  NOTHING_RESTORED,
  restoreArchive,
  type RestoreEvent,
  type RestorePosition,
  type RestoreReport,
} from './restoring/index.js';
export { type TemporalPurgeQuery, parseTemporalPurgeQuery, purgeTemporal } from './temporal/index.js';
