import { instantOf, nanosecondsOf, temporalKindOf } from '../../ngsi-ld/q-time.js';
import { QueryRefusedError } from '../errors.js';
import { type Parameter, refusedData, TIME_PARAMETERS } from '../query/index.js';
import { plusSignHint } from '../../shared/format-value.js';

/** The times that an attribute instance may have (clause 4.11). */
const TIME_PROPERTIES = ['observedAt', 'createdAt', 'modifiedAt', 'deletedAt'] as const;
export type TimeProperty = (typeof TIME_PROPERTIES)[number];

/** Earlier than any time that a broker itself sets; only observations may be older. */
export const EPOCH = '1970-01-01T00:00:00Z';

/** An interval as written in a query: `from` inclusive, `to` exclusive, either may be open (clause 4.11). */
export interface TimeFilter {
  readonly property: TimeProperty;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * Filters that together match every time. A filter shows only instances that have its time property (clause 4.11), so each
 * filter shows what the others may miss. The last one is for observations before 1970.
 */
export const EVERY_TIME: readonly TimeFilter[] = [
  { property: 'createdAt', from: EPOCH, to: undefined },
  { property: 'modifiedAt', from: EPOCH, to: undefined },
  { property: 'observedAt', from: EPOCH, to: undefined },
  { property: 'observedAt', from: undefined, to: EPOCH },
];

/**
 * Reads the time filter of a temporal purge; undefined if there is none.
 *
 * @throws QueryRefusedError for a filter with a missing, superfluous or invalid part, or an empty interval
 */
export function parseTimeFilter(parameters: ReadonlyMap<string, string>): TimeFilter | undefined {
  const timerel = parameters.get('timerel');
  if (timerel === undefined) {
    for (const name of TIME_PARAMETERS) {
      if (parameters.has(name))
        throw refusedData(name, `${name} has no effect without timerel: add timerel.`);
    }
    return undefined;
  }
  if (timerel !== 'before' && timerel !== 'after' && timerel !== 'between') {
    throw refusedData('timerel', 'timerel must be before, after or between.');
  }
  const property = propertyOf(parameters.get('timeproperty') ?? 'observedAt');
  const timeAt = dateTimeOf(parameters, 'timeAt');
  if (timeAt === undefined) {
    throw refusedData('timeAt', `timerel=${timerel} needs timeAt, such as timeAt=2026-01-01T00:00:00Z.`);
  }
  const endTimeAt = dateTimeOf(parameters, 'endTimeAt');
  if (timerel === 'between') {
    if (endTimeAt === undefined) throw refusedData('endTimeAt', 'timerel=between needs endTimeAt as well.');
    if (exact(endTimeAt) <= exact(timeAt)) {
      throw refusedData('endTimeAt', 'endTimeAt must be later than timeAt.');
    }
    return { property, from: timeAt, to: endTimeAt };
  }
  if (endTimeAt !== undefined) {
    throw refusedData('endTimeAt', `endTimeAt has no effect with timerel=${timerel}: use timerel=between.`);
  }
  return timerel === 'before'
    ? { property, from: undefined, to: timeAt }
    : { property, from: timeAt, to: undefined };
}

/** Returns the query parameters of a time filter. @throws RangeError for a filter that is open on both sides */
export function timeParameters({ property, from, to }: TimeFilter): readonly Parameter[] {
  const times =
    from !== undefined && to !== undefined
      ? { timerel: 'between', timeAt: from, endTimeAt: to }
      : from !== undefined
        ? { timerel: 'after', timeAt: from }
        : to !== undefined
          ? { timerel: 'before', timeAt: to }
          : undefined;
  if (times === undefined) throw new RangeError('a time filter needs a start or an end');
  // The default (clause 4.11) is not named: brokers that support no other may not know the parameter.
  const named = property === 'observedAt' ? times : { ...times, timeproperty: property };
  return Object.entries(named).map(([name, value]) => ({ name, value }));
}

/** Whether a parameter belongs to the time filter of a query. */
export function isOfTime(name: string): boolean {
  return TIME_PARAMETERS.some((known) => known === name);
}

/**
 * Returns a function that tells whether a time lies in the interval. Both bounds count as inside, because brokers differ on
 * them. A time shown without digits beyond milliseconds may be anywhere in its millisecond.
 */
export function containment({ from, to }: Pick<TimeFilter, 'from' | 'to'>): (time: string) => boolean {
  const start = from === undefined ? undefined : exact(from);
  const end = to === undefined ? undefined : exact(to);
  return (time) => {
    const at = nanosecondsOf(time);
    if (at === undefined) return false;
    const latest = FINER.test(time) ? at : at + NS_PER_MS - 1n;
    return (start === undefined || latest >= start) && (end === undefined || at <= end);
  };
}

/** A fraction of a second with digits beyond milliseconds. */
const FINER = /[.,]\d{4}/;

const NS_PER_MS = 1_000_000n;

/**
 * Returns the part of an interval from a time on; undefined if it is empty. A time outside the years 0 to 9999 does not cut it.
 *
 * @param ms milliseconds since the epoch
 */
export function since(filter: TimeFilter, ms: number): TimeFilter | undefined {
  if (filter.from !== undefined && exact(filter.from) >= inNanoseconds(ms)) return filter;
  if (filter.to !== undefined && exact(filter.to) <= inNanoseconds(ms)) return undefined;
  return isWritable(ms) ? { ...filter, from: new Date(ms).toISOString() } : filter;
}

/**
 * Returns the part of an interval before a time; undefined if it is empty. A time outside the years 0 to 9999 does not cut it.
 *
 * @param ms milliseconds since the epoch
 */
export function until(filter: TimeFilter, ms: number): TimeFilter | undefined {
  if (filter.to !== undefined && exact(filter.to) <= inNanoseconds(ms)) return filter;
  if (filter.from !== undefined && exact(filter.from) >= inNanoseconds(ms)) return undefined;
  return isWritable(ms) ? { ...filter, to: new Date(ms).toISOString() } : filter;
}

/** Converts a time to UTC, because some brokers accept only Z. Times finer than milliseconds are left unchanged. */
function inUtc(value: string, at: number): string {
  const isPlain = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{1,3})?[+-]/.test(value);
  return isPlain && isWritable(at) ? new Date(at).toISOString() : value;
}

function isWritable(ms: number): boolean {
  return /^\d{4}-/.test(new Date(ms).toISOString());
}

/** Returns a bound in nanoseconds since the epoch. The bound has been validated before. */
function exact(time: string): bigint {
  const at = nanosecondsOf(time);
  if (at === undefined) throw new RangeError(`not a time: ${time}`);
  return at;
}

function inNanoseconds(ms: number): bigint {
  return BigInt(Math.floor(ms)) * NS_PER_MS;
}

function propertyOf(value: string): TimeProperty {
  const property = TIME_PROPERTIES.find((known) => known === value);
  if (property === undefined) {
    throw refusedData('timeproperty', `timeproperty must be one of ${TIME_PROPERTIES.join(', ')}.`);
  }
  return property;
}

function dateTimeOf(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  // Brokers read a time without a zone as local time, or refuse it.
  const isUnambiguous = temporalKindOf(value) === 'dateTime' && /(?:Z|[+-]\d\d:\d\d)$/.test(value);
  const at = isUnambiguous ? instantOf(value) : undefined;
  if (at !== undefined) return inUtc(value, at);
  throw new QueryRefusedError(
    'badRequestData',
    `${name} must be a date and time with a zone, such as 2026-01-01T00:00:00Z${plusSignHint(value)}.`,
    name,
  );
}
