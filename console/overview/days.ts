/** What purges did, day by day. Pure: it is tested without a browser. */
import type { Purge } from '../api/client.js';

/** What the purges of a day came to. */
export interface Day {
  readonly purges: number;
  readonly deleted: number;
  readonly problems: number;
}

const DAY_MS = 86_400_000;

/** States that want a look. */
export const PROBLEM_STATES = ['failed', 'partial', 'interrupted', 'refused'] as const;

/**
 * The days up to now, the oldest first.
 *
 * @param purges without dry runs
 */
export function daysOf(
  purges: readonly Pick<Purge, 'createdAt' | 'deleted' | 'state'>[],
  nowMs: number,
  length: number,
): readonly Day[] {
  const days = Array.from({ length }, () => ({ purges: 0, deleted: 0, problems: 0 }));
  for (const { createdAt, deleted, state } of purges) {
    const day = days[length - 1 - Math.floor((nowMs - Date.parse(createdAt)) / DAY_MS)];
    if (day === undefined) continue;
    day.purges += 1;
    day.deleted += deleted;
    if (PROBLEM_STATES.some((one) => one === state)) day.problems += 1;
  }
  return days;
}

/** The sums of something day by day up to now, the oldest first. */
export function dailySums<Item extends { readonly createdAt: string }>(
  items: readonly Item[],
  valueOf: (item: Item) => number,
  nowMs: number,
  length: number,
): readonly number[] {
  const sums = Array.from({ length }, () => 0);
  for (const item of items) {
    const day = length - 1 - Math.floor((nowMs - Date.parse(item.createdAt)) / DAY_MS);
    if (sums[day] !== undefined) sums[day] += valueOf(item);
  }
  return sums;
}

/** Deletes a second of all purges, between two looks at them. @param before by the ids of the purges */
export function perSecond(
  before: ReadonlyMap<string, number>,
  now: readonly Pick<Purge, 'id' | 'deleted'>[],
  ms: number,
): number {
  const deleted = now.map(({ id, deleted: all }) => Math.max(0, all - (before.get(id) ?? all)));
  return ms > 0 ? (deleted.reduce((sum, one) => sum + one, 0) * 1000) / ms : 0;
}
