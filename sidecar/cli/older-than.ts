import { CliError, EXIT } from './exit-codes.js';
import { encode, valuesIn } from './query-text.js';

/** A span of calendar time: months and years have no fixed length. */
export interface Span {
  readonly months: number;
  readonly ms: number;
}

const SHORT = /^(\d{1,6})(s|min|h|d|w|mo|y)$/;
const ISO =
  /^P(?=\d|T\d)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/;
const SECOND = 1000;
const UNIT_MS: Readonly<Record<string, number>> = {
  s: SECOND,
  min: 60 * SECOND,
  h: 3600 * SECOND,
  d: 86_400 * SECOND,
  w: 7 * 86_400 * SECOND,
};

/**
 * Reads `90d`, `12h`, `30min`, `2w`, `6mo`, `1y`, or a duration of ISO 8601 such as `P90D`.
 *
 * @throws CliError for anything else, and for none at all
 */
export function parseSpan(text: string): Span {
  const span = shortSpan(text) ?? isoSpan(text);
  if (span === undefined || (span.months === 0 && span.ms === 0)) {
    throw new CliError(
      EXIT.usage,
      `--older-than is a time such as 90d, 12h, 30min, 2w, 6mo, 1y or P90D, and not ${JSON.stringify(text)}.`,
    );
  }
  return span;
}

function shortSpan(text: string): Span | undefined {
  const [, amount, unit = ''] = SHORT.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const months = unit === 'mo' ? 1 : unit === 'y' ? 12 : 0;
  return { months: months * Number(amount), ms: (UNIT_MS[unit] ?? 0) * Number(amount) };
}

function isoSpan(text: string): Span | undefined {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  const hoursInAll = (weeks * 7 + days) * 24 + hours;
  return { months: years * 12 + months, ms: (hoursInAll * 3600 + minutes * 60 + seconds) * SECOND };
}

/** The time that lies a span before another, in UTC: a month earlier than the 31st is the last day of its month. */
export function before(nowMs: number, { months, ms }: Span): string {
  const date = new Date(nowMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  const earlier = new Date(date.getTime() - ms);
  if (!(earlier.getUTCFullYear() >= 1)) throw new CliError(EXIT.usage, '--older-than reaches too far back.');
  return earlier.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/**
 * Narrows a query to what is older than a time. Entities by `modifiedAt`, `createdAt`, an attribute (its value) or
 * `<attribute>.observedAt`; of temporal entities the instances by `observedAt`, `modifiedAt`, `createdAt`, or
 * `<attribute>.observedAt`, which is of that attribute alone.
 *
 * @param query made by encodeQuery
 * @param time ISO 8601 in UTC; sent without quotes, which some brokers would compare as a string
 * @throws CliError for what would mean something else
 */
export function olderThan(query: string, by: string, time: string, isTemporal: boolean): string {
  return isTemporal ? instancesOlderThan(query, by, time) : entitiesOlderThan(query, by, time);
}

function entitiesOlderThan(query: string, by: string, time: string): string {
  if (by === 'observedAt') {
    throw new CliError(
      EXIT.usage,
      'Entities have no observedAt of their own: say --by ATTRIBUTE.observedAt.',
    );
  }
  const [q, ...more] = valuesIn(query, 'q');
  if (more.length > 0) throw new CliError(EXIT.usage, 'The query has more than one q.');
  const comparison = encode(`${by}<${time}`);
  if (q === undefined) return joined(query, `q=${comparison}`);
  const both = `q=${encode('(')}${q}${encode(');')}${comparison}`;
  return query
    .split('&')
    .map((pair) => (pair.startsWith('q=') ? both : pair))
    .join('&');
}

function instancesOlderThan(query: string, by: string, time: string): string {
  for (const name of ['timerel', 'timeAt', 'endTimeAt', 'timeproperty']) {
    if (valuesIn(query, name).length > 0)
      throw new CliError(EXIT.usage, `--older-than sets the time filter: leave ${name} out of the query.`);
  }
  const before = `timerel=before&timeAt=${encode(time)}`;
  if (by === 'observedAt' || by === 'modifiedAt' || by === 'createdAt')
    return joined(query, `${before}&timeproperty=${by}`);
  const attribute = by.replace(/\.observedAt$/, '');
  if (attribute === by) {
    throw new CliError(
      EXIT.usage,
      `Instances are older by a time of theirs: say --by ${by}.observedAt, observedAt, modifiedAt or createdAt.`,
    );
  }
  if (valuesIn(query, 'attrs').length > 0)
    throw new CliError(EXIT.usage, `--by ${by} sets attrs: leave it out of the query.`);
  return joined(query, `attrs=${encode(attribute)}&${before}&timeproperty=observedAt`);
}

function joined(query: string, more: string): string {
  return query === '' ? more : `${query}&${more}`;
}
