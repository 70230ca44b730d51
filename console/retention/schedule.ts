import { nextCronTime, parseCron } from '../../sidecar/jobs/retention/cron.js';

/**
 * Returns the next times of a schedule, calculated as the gateway does.
 *
 * @param schedule a cron pattern of five fields
 * @returns undefined for an invalid schedule
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
