import { QueryRefusedError } from '../../purge/index.js';
import type { RetentionSettings } from '../../store/index.js';
import { nextCronTime, parseCron, type CronPattern } from './cron.js';

type Times = Pick<RetentionSettings, 'schedule' | 'timeZone'>;

/**
 * The next time that a schedule is due, in milliseconds; undefined when there is none. See `nextCronTime` for the changes of the
 * clocks.
 *
 * @throws QueryRefusedError for what is not a cron pattern of five fields, or not a time zone
 */
export function nextDue({ schedule, timeZone }: Times, afterMs: number): number | undefined {
  checkTimeZone(timeZone);
  return nextCronTime(patternOf(schedule), timeZone, afterMs);
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

function patternOf(schedule: string): CronPattern {
  const pattern = parseCron(schedule);
  if (pattern !== undefined) return pattern;
  const detail =
    'schedule must be a cron pattern of five fields: minute, hour, day ' +
    'of the month, month, day of the week, as in 0 3 * * *. Each is made ' +
    'of numbers, names of months and days, *, lists, ranges and steps.';
  throw refusedMember('schedule', detail);
}

/** @throws QueryRefusedError */
export function checkTimeZone(timeZone: string): void {
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
