/** Daily sums of what purges did. Pure: it is tested without a browser. */
import type { Purge } from '../api/client.js';

const DAY_MS = 86_400_000;

/** States that need attention. */
export const PROBLEM_STATES = ['failed', 'partial', 'interrupted', 'refused'] as const;

/** Whether a purge needs attention. */
export function isProblem({ state }: Pick<Purge, 'state'>): boolean {
  return PROBLEM_STATES.some((one) => one === state);
}

/** Returns daily sums up to now, oldest first. */
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
