/** The rate of a purge over time. Pure: it is tested without a browser. */
import type { Purge } from '../api/client.js';

/** One point of the rate of a purge. */
export interface RateSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly perSecond: number;
}

/** A period of a purge for which only the average rate is known. */
export interface AverageRate {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly perSecond: number;
}

const MAX_SAMPLES = 240;

/** A shorter period has no meaningful average, in milliseconds. */
const LEAST_STRETCH_MS = 1000;

/** Adds a sample. If there are too many, drops every second one of the older half. */
export function withSample(last: readonly RateSample[], sample: RateSample): readonly RateSample[] {
  const samples = [...last, sample];
  if (samples.length <= MAX_SAMPLES) return samples;
  const half = MAX_SAMPLES / 2;
  return [...samples.slice(0, half).filter((_, index) => index % 2 === 0), ...samples.slice(half)];
}

/**
 * Returns the average rate of a purge from its start to its end, or to now.
 *
 * @param timeOf converts a time of the record to milliseconds by the clock of `nowMs`
 * @returns undefined for a purge that has deleted nothing, or has only just started
 */
export function averageRate(
  { startedAt, endedAt, deleted }: Pick<Purge, 'startedAt' | 'endedAt' | 'deleted'>,
  timeOf: (iso: string) => number,
  nowMs: number,
): AverageRate | undefined {
  if (startedAt === undefined || deleted === 0) return undefined;
  const from = timeOf(startedAt);
  const to = endedAt === undefined ? nowMs : timeOf(endedAt);
  // This also excludes NaN.
  if (!(to - from >= LEAST_STRETCH_MS)) return undefined;
  return { from, to, perSecond: (deleted * 1000) / (to - from) };
}
