/**
 * The purge engine, used by jobs, the HTTP interface and the command line. A purge deletes what a query matches, and nothing
 * else, whatever the broker does; only the native strategy leaves that to the broker. Its folders, from top to bottom:
 * restoring, temporal, entities, attributes, deleting, run, proof, listing, requests, query, archiving, ledger, broker. Each
 * imports only those below it, through their index.ts.
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
export { type RequestedRate, type DoneSoFar, RateLimiter } from './requests/index.js';
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
