import { nextCronTime, parseCron } from '../../sidecar/jobs/retention/cron.js';

/**
 * The next times of a schedule, as the gateway reckons them.
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
  const cron = parseCron(schedule, timeZone);
  if (cron === undefined) return undefined;
  const runs: Date[] = [];
  try {
    for (let at: number | undefined = from.getTime(); runs.length < many;) {
      at = nextCronTime(cron, at);
      if (at === undefined) break;
      runs.push(new Date(at));
    }
  } catch {
    return undefined;
  }
  return runs;
}
