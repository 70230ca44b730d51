import { QueryRefusedError } from '../../purge/index.js';
import type { RetentionSettings } from '../../store/index.js';
import type { Cron } from 'croner';
import { nextCronTime, parseCron } from './cron.js';

type Times = Pick<RetentionSettings, 'schedule' | 'timeZone'>;

/**
 * Returns the next time that a schedule is due, in milliseconds; undefined if there is none. See `parseCron` for
 * changes of the clocks.
 *
 * @throws QueryRefusedError if the schedule is not a cron pattern of five fields, or the time zone is unknown
 */
export function nextDue(times: Times, afterMs: number): number | undefined {
  checkTimeZone(times.timeZone);
  return nextCronTime(cronOf(times), afterMs);
}

/** Checks a schedule. @throws QueryRefusedError naming the wrong member */
export function checkSchedule(times: Times, nowMs: number): void {
  if (nextDue(times, nowMs) === undefined)
    throw refusedMember('schedule', 'schedule names a date that never occurs.');
}

function cronOf({ schedule, timeZone }: Times): Cron {
  const cron = parseCron(schedule, timeZone);
  if (cron === undefined)
    throw refusedMember(
      'schedule',
      'schedule must be a cron pattern of five fields: minute, hour, day ' +
        'of the month, month, day of the week, as in 0 3 * * *. Each is made ' +
        'of numbers, names of months and days, *, lists, ranges and steps.',
    );
  if (isReadDifferently(schedule))
    throw refusedMember(
      'schedule',
      'schedule has a step of *, such as */2, in the day of the month or the day of the week, and names days in ' +
        'the other. Some crons then require both to match, others only one. Write the range instead of *, as in ' +
        '1-31/2 or 0-6/2: it is due when one of them matches.',
    );
  return cron;
}

/**
 * Whether crons disagree about a schedule: when Vixie's cron combines the two day fields, it treats one that begins
 * with * as naming no day, even with a step; others do not.
 */
function isReadDifferently(schedule: string): boolean {
  const [, , day = '', , weekday = ''] = schedule.trim().split(/[ \t]+/);
  return day !== '*' && weekday !== '*' && `${day}${weekday}`.includes('*');
}

/** @throws QueryRefusedError */
export function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (cause) {
    throw refusedMember('timeZone', 'timeZone must be a name such as UTC or Europe/Berlin.', cause);
  }
}

/** Creates the error that refuses a member of a retention policy. */
export function refusedMember(member: string, detail: string, cause?: unknown): QueryRefusedError {
  return new QueryRefusedError('invalidRequest', detail, member, { cause });
}
