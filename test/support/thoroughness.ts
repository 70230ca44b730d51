import { it } from 'node:test';

/**
 * Whether tests try every case, as those in test/long do. `npm test` is limited to four minutes, so
 * tests with very many cases try only a part of them there, spread over all.
 */
export const isThorough = process.env['TEST_THOROUGHLY'] === 'yes';

/**
 * Returns the number of runs of a property: the given number in `npm test`, and ten times as many
 * in `npm run test:long`.
 */
export function runs(often: number): number {
  return isThorough ? 10 * often : often;
}

/** A test only for `npm run test:long`: it is slow, and what it checks rarely breaks. */
export function itAtLength(title: string, run: () => Promise<void>): void {
  if (isThorough) void it(title, run);
}
