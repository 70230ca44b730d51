/** Sends the requests of one purge, with retries, pauses and the rate, and waits for a broker that is away. */
export type { OutageEvent } from './outage.js';
export { type AskedRate, Pace } from './pace.js';
export {
  type DoneSoFar,
  ListedTooLongAgo,
  MustBeSplit,
  type PurgeBudget,
  type PurgeRequest,
  type RequestOrder,
} from './request.js';
export { type RequestDependencies, Requester, type Settled } from './requester.js';
export type { RetryPolicy } from './retry-policy.js';
