/** Sends the requests of one purge: retries, pauses, outages of the broker, and the rate. */
export type { OutageEvent } from './outage.js';
export { Pace } from './pace.js';
export { ListedTooLongAgo, MustBeSplit, type PurgeRequest } from './request.js';
export { Requester, type Settled } from './requester.js';
export type { RetryPolicy } from './retry-policy.js';
