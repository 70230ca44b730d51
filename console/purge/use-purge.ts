import { useState } from 'preact/hooks';
import type { Purge } from '../api/client.js';
import { type FollowedJob, useJob } from '../shared/use-job.js';
import { eventsOf } from './order.js';
import { withSample, type RateSample } from './rates.js';

/** A purge that is being followed. */
export interface FollowedPurge extends FollowedJob<Purge> {
  /** The newest comes last. Their number is bounded, however long the purge takes. */
  readonly rates: readonly RateSample[];
}

/** Follows a purge and its rate for as long as the page shows it. */
export function usePurge(id: string): FollowedPurge {
  const [rates, setRates] = useState<readonly RateSample[]>([]);
  const job = useJob<Purge>(
    id,
    (signal) => eventsOf(id, signal),
    ({ ratePerSecond, state }) => {
      if (ratePerSecond !== undefined && state === 'running')
        setRates((last) => withSample(last, { at: Date.now(), perSecond: ratePerSecond }));
    },
  );
  return { ...job, rates };
}
