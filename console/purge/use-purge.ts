import { useState } from 'preact/hooks';
import type { Purge } from '../api/client.js';
import { useJob } from '../shared/use-job.js';
import { purgeEvents } from './purge-api.js';

/** Follows a purge and its rate for as long as the page shows it. */
export function usePurge(id: string) {
  // The newest comes last. Their number is bounded, however long the purge takes.
  const [rates, setRates] = useState<readonly RateSample[]>([]);
  const job = useJob<Purge>(
    id,
    (signal) => purgeEvents(id, signal),
    ({ ratePerSecond, state }) => {
      if (ratePerSecond !== undefined && state === 'running')
        setRates((last) => withSample(last, { at: Date.now(), perSecond: ratePerSecond }));
    },
  );
  return { ...job, rates };
}

/** One point of the rate of a purge. */
export interface RateSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly perSecond: number;
}

const MAX_SAMPLES = 240;

/** A shorter purge has no meaningful average, in milliseconds. */
const MIN_DURATION_MS = 1000;

/** Adds a sample. If there are too many, drops every second one of the older half. */
export function withSample(last: readonly RateSample[], sample: RateSample): readonly RateSample[] {
  const samples = [...last, sample];
  if (samples.length <= MAX_SAMPLES) return samples;
  const half = MAX_SAMPLES / 2;
  return [...samples.slice(0, half).filter((_, index) => index % 2 === 0), ...samples.slice(half)];
}

/** Returns the average rate of a purge that has ended; undefined if it deleted nothing or was too short. */
export function averageRate({
  startedAt,
  endedAt,
  deleted,
}: Pick<Purge, 'startedAt' | 'endedAt' | 'deleted'>): number | undefined {
  if (startedAt === undefined || endedAt === undefined || deleted === 0) return undefined;
  const milliseconds = Date.parse(endedAt) - Date.parse(startedAt);
  return milliseconds < MIN_DURATION_MS ? undefined : (deleted * 1000) / milliseconds;
}
