/** Purges of entities: runs them in rounds of listing and deleting until nothing is left, and makes dry runs. */
export { purgeByIds } from './drain.js';
export { type EntityPurgeQuery, parseEntityPurgeQuery, purgeEntities } from './engine.js';
export { type HintSource, planHints, withHints } from './hints.js';
export { listEntities, type MatchPage, parseScanQuery } from './scan.js';
export { checkUnderstood, showsOnlyWithout } from './understood.js';
