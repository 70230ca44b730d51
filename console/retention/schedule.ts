import { Cron } from 'croner';

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
  try {
    return new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true }).nextRuns(many, from);
  } catch {
    return undefined;
  }
}
