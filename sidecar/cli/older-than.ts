import { usage } from './exit-codes.js';

const SHORT = /^(\d{1,6})(s|min|h|d|w|mo|y)$/;
const DESIGNATOR: Readonly<Record<string, (amount: string) => string>> = {
  s: (amount) => `PT${amount}S`,
  min: (amount) => `PT${amount}M`,
  h: (amount) => `PT${amount}H`,
  d: (amount) => `P${amount}D`,
  w: (amount) => `P${amount}W`,
  mo: (amount) => `P${amount}M`,
  y: (amount) => `P${amount}Y`,
};

/**
 * Reads `90d`, `12h`, `30min`, `2w`, `6mo` and `1y`, and leaves durations of ISO 8601 unchanged.
 *
 * @returns a duration of ISO 8601, such as P90D
 * @throws CliError for anything else
 */
export function isoDuration(text: string): string {
  const [, amount = '', unit = ''] = SHORT.exec(text) ?? [];
  const short = DESIGNATOR[unit]?.(amount);
  if (short !== undefined) return short;
  if (text.startsWith('P')) return text;
  throw usage(
    `--older-than must be a time such as 90d, 12h, 30min, 2w, 6mo, 1y or P90D, not ${JSON.stringify(text)}.`,
  );
}
