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
 * Reads short durations such as `90d`, `12h`, `30min`, `2w`, `6mo` and `1y`.
 *
 * @returns an ISO 8601 duration, such as P90D; undefined for anything else
 */
export function shortDuration(text: string): string | undefined {
  const [, amount = '', unit = ''] = SHORT.exec(text) ?? [];
  return DESIGNATOR[unit]?.(amount);
}
