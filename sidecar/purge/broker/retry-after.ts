/**
 * Reads a Retry-After value (RFC 9110 § 10.2.3): delay-seconds or an HTTP date.
 *
 * @returns milliseconds from now, never negative; undefined when the value is neither
 */
export function parseRetryAfter(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse takes almost anything ("1", "2 apples"); an HTTP date always starts with a day's name.
  if (!/^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)/i.test(text)) return undefined;
  // The asctime form names no zone; it is GMT like the others, where Date.parse would take local time.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
