import { shortDuration } from '../shared/duration.js';
import { usage } from './exit-codes.js';

/**
 * Parses `90d`, `12h`, `30min`, `2w`, `6mo` and `1y`, and returns ISO 8601 durations unchanged.
 *
 * @returns an ISO 8601 duration, such as P90D
 * @throws CliError for anything else
 */
export function isoDuration(text: string): string {
  const short = shortDuration(text);
  if (short !== undefined) return short;
  if (text.startsWith('P')) return text;
  throw usage(
    `--older-than must be a time such as 90d, 12h, 30min, 2w, 6mo, 1y or P90D, not ${JSON.stringify(text)}.`,
  );
}
