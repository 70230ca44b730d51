import { RateLimiter } from '../../../../sidecar/purge/requests/index.js';
import { createTestClock } from '../../../support/purge-harness.js';

/** A rate limiter that lets everything through at once, except as the test says. */
export function rateLimiterOf(more: Partial<Pick<RateLimiter, 'acquire' | 'refund' | 'burst'>>): RateLimiter {
  const own = { burst: Infinity, acquire: async () => true, ...more };
  return Object.defineProperties(
    new RateLimiter(createTestClock(), 1),
    Object.getOwnPropertyDescriptors(own),
  );
}
