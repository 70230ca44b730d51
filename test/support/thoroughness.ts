import { it } from 'node:test';

/**
 * Whether tests try all that they can, as those in test/long do. `npm test` has four minutes, so tests of very many cases
 * take a part of them there, spread over all.
 */
export const isThorough = process.env['TEST_THOROUGHLY'] === 'yes';

/** How often a property is tried: so many times in `npm test`, and ten times as often by `npm run test:long`. */
export function runs(often: number): number {
  return isThorough ? 10 * often : often;
}

/** A test of `npm run test:long` alone: it takes long, and what it shows breaks seldom. */
export function itAtLength(title: string, run: () => Promise<void>): void {
  if (isThorough) void it(title, run);
}
