import { Cron } from 'croner';
import { QueryRefusedError } from '../../purge/errors.js';
import type { RetentionSettings } from '../../schemas/store/retention-records.js';

type Times = Pick<RetentionSettings, 'schedule' | 'timeZone'>;

/**
 * The next time that a schedule is due, in milliseconds; undefined when there is none. A time of day that a change of the
 * clocks leaves out is due at the end of the gap, and one that comes twice is due once.
 *
 * @throws QueryRefusedError for what is not a cron pattern of five fields, or not a time zone
 */
export function nextDue({ schedule, timeZone }: Times, afterMs: number): number | undefined {
  return cronOf(schedule, timeZone).nextRun(new Date(afterMs))?.getTime();
}

/**
 * Checks a schedule.
 *
 * @throws QueryRefusedError naming the member that is wrong
 */
export function checkSchedule(times: Times, nowMs: number): void {
  if (nextDue(times, nowMs) === undefined)
    throw refusedMember('schedule', 'schedule names a date that never comes.');
}

const NUMBER = String.raw`\d\d?`;
const MONTH = `${NUMBER}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`;
const WEEKDAY = `${NUMBER}|sun|mon|tue|wed|thu|fri|sat`;

/** A list of values, ranges and `*`, with or without steps. */
function fieldOf(value: string): string {
  const item = String.raw`(?:\*|(?:${value})(?:-(?:${value}))?)(?:/\d\d?)?`;
  return `${item}(?:,${item})*`;
}

/**
 * Five fields as every cron reads them. The library takes more: nicknames (`@daily`), a single point in time, and `?`, `L`, `W`,
 * `#` and `+`, which other crons do not know, or read in other ways.
 */
const FIVE_FIELDS = new RegExp(
  `^${[NUMBER, NUMBER, NUMBER, MONTH, WEEKDAY].map(fieldOf).join('[ \\t]+')}$`,
  'i',
);

function cronOf(schedule: string, timeZone: string): Cron {
  checkTimeZone(timeZone);
  try {
    if (!FIVE_FIELDS.test(schedule.trim())) throw new TypeError('not five fields of cron');
    return new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true });
  } catch (cause) {
    const detail =
      'schedule must be a cron pattern of five fields: minute, hour, day of the month, month, day of the week, as in 0 3 * * *. Each is made of numbers, names of months and days, *, lists, ranges and steps.';
    throw refusedMember('schedule', detail, cause);
  }
}

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (cause) {
    throw refusedMember('timeZone', 'timeZone must be a name such as UTC or Europe/Berlin.', cause);
  }
}

/** The refusal of a member of a retention policy. */
export function refusedMember(member: string, detail: string, cause?: unknown): QueryRefusedError {
  return new QueryRefusedError('invalidRequest', detail, member, { cause });
}
