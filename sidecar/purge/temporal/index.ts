/** Purges of temporal entities: their query, what it deletes of each match, and the plot. */
export { purgeTemporal } from './engine.js';
export { type TemporalPurgeQuery, parseTemporalPurgeQuery } from './query.js';
