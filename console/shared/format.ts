/** Formats values for people: counts in groups, times in their time zone, durations in words. */

const counts = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });
const rates = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** A count in groups of three digits: 1,234. */
export function count(value: number): string {
  return counts.format(value);
}

/** Formats a part of a whole: `14%`, or `0.2%` if it is less than one percent. */
export function percent(part: number, whole: number): string {
  return percents.format(part / Math.max(1, whole));
}

/** Formats a JSON pointer. The empty one, for the whole document, is shown as `/`. */
export function shownPointer(pointer: string): string {
  return pointer === '' ? '/' : pointer;
}

/** Formats a rate per second, with three significant digits. */
export function rate(value: number): string {
  return `${rates.format(value)}/s`;
}

/** Formats a time with its zone, e.g. `26 Nov 2026, 14:03:05 GMT+1`. @param zone by default that of the machine */
export function time(iso: string | number, zone?: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return String(iso);
  return new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(date);
}

/** A span of time: `340 ms`, `4.2 s`, `3 min 10 s`, `2 h 5 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
