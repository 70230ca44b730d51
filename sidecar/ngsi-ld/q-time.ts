import { isCalendarDay, isUsualDateTime } from '../shared/rfc3339.js';

/** Dates and times in the syntax of clause 4.6.3 of ETSI GS CIM 009 (ISO 8601, with `.` or `,` before the fraction). */

const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const TIME = String.raw`(\d\d):(\d\d):(\d\d)(?:[.,]\d{1,9})?`;
const ZONE = String.raw`(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?`;
const TEMPORAL = new RegExp(`^(?:${DATE}T)?${TIME}${ZONE}$|^${DATE}$`);

export type TemporalKind = 'date' | 'time' | 'dateTime';

/**
 * Tells whether a text is a date, a time or a date-time; undefined for any other syntax and for dates or times that do
 * not exist.
 */
export function temporalKindOf(text: string): TemporalKind | undefined {
  if (isUsualDateTime(text)) return 'dateTime';
  const found = TEMPORAL.exec(text);
  if (found === null) return undefined;
  const [, year = found[7], month = found[8], day = found[9], hours, minutes, seconds] = found;
  if (year !== undefined && !isCalendarDay(Number(year), Number(month), Number(day))) return undefined;
  if (hours === undefined) return 'date';
  // A leap second is written with seconds equal to 60.
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return undefined;
  return year === undefined ? 'time' : 'dateTime';
}

/**
 * Converts a date or date-time to milliseconds since the epoch, so that different spellings of the same moment are
 * equal, and a time to milliseconds since midnight. Without a zone, UTC is assumed. Undefined for anything else.
 */
export function instantOf(text: string): number | undefined {
  const kind = temporalKindOf(text);
  if (kind === undefined) return undefined;
  if (kind === 'date') return Date.parse(text);
  const written = (kind === 'time' ? `1970-01-01T${text}` : text)
    .replace(',', '.')
    .replace(/:60(?=\D|$)/, ':59');
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(written) ? written : `${written}Z`;
  const instant = Date.parse(zoned);
  return Number.isNaN(instant) ? undefined : instant;
}

/**
 * Returns a text with another moment in place of each date and time in it. What surrounds the digits stays: quotes, a fraction
 * of a second, the zone.
 *
 * @param moment a date and a time, `YYYY-MM-DDThh:mm:ss`
 */
export function withMoment(text: string, moment: string): string {
  const [date = '', time = ''] = moment.split('T');
  return text.replace(/\d{4}-\d\d-\d\d/g, date).replace(/\d\d:\d\d:\d\d/g, time);
}

/** The fraction of a second, up to nanoseconds. */
const FRACTION = /[.,](\d{1,9})/;

/** Like `instantOf`, but in nanoseconds, so that no digit of a fraction is lost. Undefined for anything else. */
export function nanosecondsOf(text: string): bigint | undefined {
  if (temporalKindOf(text) === undefined) return undefined;
  const ms = instantOf(text.replace(FRACTION, ''));
  const fraction = FRACTION.exec(text)?.[1] ?? '';
  return ms === undefined ? undefined : BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(9, '0'));
}

const NS_PER_MS = 1_000_000n;
