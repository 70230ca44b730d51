/** Sends the requests of one purge: retries, pauses, outages of the broker, and the rate. */
export type { OutageEvent } from './availability.js';
export { type Pace, createPace } from './pace.js';
export { ListedTooLongAgo, MustBeSplit, type PurgeRequest } from './request.js';
export { type Requester, type Settled, createRequester, effortOf } from './requester.js';
export type { RetryPolicy } from './retry-policy.js';
