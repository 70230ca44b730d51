/** Sends the requests of one purge, with retries, pauses and the rate, and waits for a broker that is away. */
export type { OutageEvent } from './outage.js';
export { type RequestedRate, RateLimiter } from './rate-limiter.js';
export {
  type DoneSoFar,
  StaleListError,
  MustSplitError,
  type PurgeBudget,
  type PurgeRequest,
  type RequesterOptions,
} from './request.js';
export { type RequestDependencies, Requester, type RequestResult } from './requester.js';
export type { RetryPolicy } from './retry-policy.js';
