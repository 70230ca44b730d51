/** Purges of temporal entities: parses their query, decides what to delete of each match, and runs the purge. */
export { purgeTemporal } from './engine.js';
export { type TemporalPurgeQuery, parseTemporalPurgeQuery } from './query.js';
