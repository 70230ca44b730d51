/** Summary of repeated measurements. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Summarises measurements. @throws RangeError if there are no values */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) throw new RangeError('There is nothing to sum up.');
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? max;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? min) + upper) / 2;
  return { median, min, max };
}

/** Returns the value below which a share of all values lies. @throws RangeError if there are no values */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError('There is nothing to sum up.');
  return value;
}

/** Measures how many milliseconds some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
