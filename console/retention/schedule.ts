import { Cron } from 'croner';

const NUMBER = String.raw`\d\d?`;
const MONTH = `${NUMBER}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`;
const WEEKDAY = `${NUMBER}|sun|mon|tue|wed|thu|fri|sat`;

/** A list of values, ranges and `*`, with or without steps. */
function fieldOf(value: string): string {
  const item = String.raw`(?:\*|(?:${value})(?:-(?:${value}))?)(?:/\d\d?)?`;
  return `${item}(?:,${item})*`;
}

/** What the gateway takes: the library takes more. */
const FIVE_FIELDS = new RegExp(
  `^${[NUMBER, NUMBER, NUMBER, MONTH, WEEKDAY].map(fieldOf).join('[ \\t]+')}$`,
  'i',
);

/**
 * The next times of a schedule, by the library that the gateway reckons with, so that both agree.
 *
 * @param schedule a cron pattern of five fields
 * @returns undefined for a schedule that cannot be read
 */
export function nextRuns(
  schedule: string,
  timeZone: string,
  many: number,
  from: Date,
): readonly Date[] | undefined {
  if (!FIVE_FIELDS.test(schedule.trim())) return undefined;
  try {
    return new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true }).nextRuns(many, from);
  } catch {
    return undefined;
  }
}
