import { Pace } from '../../../../sidecar/purge/requests/index.js';
import { createTestClock } from '../../../support/purge-harness.js';

/** A pace that lets everything through at once, except as the test says. */
export function paceOf(more: Partial<Pick<Pace, 'take' | 'giveBack' | 'burst'>>): Pace {
  const own = { burst: Infinity, take: async () => true, ...more };
  return Object.defineProperties(new Pace(createTestClock(), 1), Object.getOwnPropertyDescriptors(own));
}
