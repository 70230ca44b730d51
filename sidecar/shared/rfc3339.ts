/** Dates, times and durations in the syntax of RFC 3339 (section 5.6 and appendix A). */

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?$/;
const ZONED = /^(.*?)(?:[Zz]|([+-])(\d\d):(\d\d))$/s;

/** Whether a text is a `full-date` that exists in the calendar. */
export function isFullDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  return year !== undefined && month !== undefined && day !== undefined && isCalendarDay(year, month, day);
}

/** Whether a day exists in the (proleptic) Gregorian calendar; months and days count from 1. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  if (month === 2) return day <= (isLeapYear(year) ? 29 : 28);
  return day <= (SHORT_MONTHS.has(month) ? 30 : 31);
}

const SHORT_MONTHS: ReadonlySet<number> = new Set([4, 6, 9, 11]);

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Whether a text is a `full-time`: with an offset from UTC, and with second 60 only where a leap second can be, at 23:59 UTC. */
export function isFullTime(text: string): boolean {
  const zoned = ZONED.exec(text);
  if (zoned === null) return false;
  const [, time = '', sign, hours, minutes] = zoned;
  if (Number(hours ?? 0) > 23 || Number(minutes ?? 0) > 59) return false;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -1 : 1);
  return isTimeOfDay(time, offset);
}

/**
 * Whether a text is a `partial-time`, which has no offset.
 *
 * @param offset from UTC in minutes; if undefined, any minute may end with a leap second
 */
export function isTimeOfDay(text: string, offset?: number): boolean {
  const [, hour = NaN, minute = NaN, second = NaN] = (TIME.exec(text) ?? []).map(Number);
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return false;
  if (second < 60 || offset === undefined) return true;
  const DAY = 24 * 60;
  return (hour * 60 + minute - offset + DAY) % DAY === DAY - 1;
}

const USUAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

/** Recognises most date-times in a fraction of the time of the complete check. */
export function isUsualDateTime(text: string): boolean {
  return USUAL.test(text);
}

/** Whether a text is a `date-time`; the separator must be a T, because the grammar does not allow a space. */
export function isDateTime(text: string): boolean {
  if (isUsualDateTime(text)) return true;
  return /^[Tt]$/.test(text.charAt(10)) && isFullDate(text.slice(0, 10)) && isFullTime(text.slice(11));
}

const OF_DAY = String.raw`T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)`;
const OF_DAYS = String.raw`\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D`;
const DURATION = new RegExp(`^P(?:(?:${OF_DAYS})(?:${OF_DAY})?|${OF_DAY}|\\d+W)$`);

/** Whether a text is a `duration` (appendix A): no unit may be skipped between two others, and weeks cannot be combined. */
export function isDuration(text: string): boolean {
  return DURATION.test(text);
}
