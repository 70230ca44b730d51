import { Cron } from 'croner';

const NUMBER = String.raw`\d\d?`;
const MONTH = `${NUMBER}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`;
const WEEKDAY = `${NUMBER}|sun|mon|tue|wed|thu|fri|sat`;

/** Matches a list of values, ranges and `*`, with or without steps. */
function fieldOf(value: string): string {
  const item = String.raw`(?:\*|(?:${value})(?:-(?:${value}))?)(?:/\d\d?)?`;
  return `${item}(?:,${item})*`;
}

/**
 * Matches five fields that every cron reads in the same way. The library accepts more: nicknames (`@daily`), a single
 * point in time, and `?`, `L`, `W`, `#` and `+`, which other crons do not know or read differently.
 */
const FIVE_FIELDS = new RegExp(
  `^${[NUMBER, NUMBER, NUMBER, MONTH, WEEKDAY].map(fieldOf).join('[ \\t]+')}$`,
  'i',
);

/**
 * Reads a schedule of five fields: minute, hour, day of the month, month, day of the week.
 *
 * When clocks change, a schedule with a `*` or a step in its minutes or hours is due whenever the clocks show one of
 * its times. Any other schedule names times of day: a time that is skipped is due right after the gap, and a time that
 * occurs twice is due the first time.
 *
 * @returns undefined for any other text
 */
export function parseCron(schedule: string, timeZone: string): Cron | undefined {
  const text = schedule.trim();
  if (!FIVE_FIELDS.test(text)) return undefined;
  try {
    return new Cron(text, { timezone: timeZone, mode: '5-part', paused: true, fixedTimeRule: 'no-wildcard' });
  } catch {
    return undefined;
  }
}

/** Returns the next time that a schedule is due, in milliseconds since the epoch; undefined if there is none. */
export function nextCronTime(cron: Cron, afterMs: number): number | undefined {
  return cron.nextRun(new Date(afterMs))?.getTime();
}
