import { useRef, useState } from 'preact/hooks';
import { isFinal } from '../../sidecar/client/purges.js';
import type { Purge } from '../api/client.js';
import { localTime } from '../shared/gateway-clock.js';
import { type FollowedJob, useJob } from '../shared/use-job.js';
import { eventsOf } from './order.js';
import { averageRate, withSample, type AverageRate, type RateSample } from './rates.js';

/** A purge that is being followed. */
export interface FollowedPurge extends FollowedJob<Purge> {
  /** The newest comes last. Their number is bounded, however long the purge takes. */
  readonly rates: readonly RateSample[];
  /** The average rate before this page started to follow it. */
  readonly before: AverageRate | undefined;
}

/** Follows a purge and its rate for as long as the page shows it. */
export function usePurge(id: string): FollowedPurge {
  const [rates, setRates] = useState<readonly RateSample[]>([]);
  const [before, setBefore] = useState<AverageRate>();
  const isFirst = useRef(true);
  const job = useJob<Purge>(
    id,
    (signal) => eventsOf(id, signal),
    (next) => {
      const { ratePerSecond, state } = next;
      if (isFirst.current && !isFinal(next)) setBefore(averageRate(next, localTime, Date.now()));
      isFirst.current = false;
      if (ratePerSecond !== undefined && state === 'running')
        setRates((last) => withSample(last, { at: Date.now(), perSecond: ratePerSecond }));
    },
  );
  return { ...job, rates, before };
}
