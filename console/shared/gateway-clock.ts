/** The clock of the gateway, as shown by its answers. The clock of this machine may be wrong by hours. */

/** `Date` has whole seconds, and answers take time, so a smaller difference means nothing. */
const LEAST_MS = 3000;

let aheadMs = 0;

/** Reads the time from an answer. @param date its header `Date` (RFC 9110 § 6.6.1), if it has one */
export function noteDate(date: string | null, nowMs = Date.now()): void {
  const differenceMs = Date.parse(date ?? '') - nowMs;
  if (Number.isNaN(differenceMs)) return;
  aheadMs = Math.abs(differenceMs) < LEAST_MS ? 0 : differenceMs;
}

/** Converts a time of the gateway to the clock of this machine, in milliseconds since 1970; NaN for an invalid time. */
export function localTime(iso: string): number {
  return Date.parse(iso) - aheadMs;
}
