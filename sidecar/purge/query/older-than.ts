import { DateTime, Duration } from 'luxon';
import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { parseQ } from '../../ngsi-ld/q.js';
import { QueryRefusedError } from '../errors.js';
import {
  checkName,
  ENTITY_PARAMETERS,
  parseParameters,
  refusedData,
  TEMPORAL_PARAMETERS,
  type PurgeParameters,
} from './parameters.js';
import { parsed } from './selection.js';

/** The time by which an age is measured: that of entities, or of the instances of temporal entities. */
export interface Age {
  readonly target: 'entities' | 'temporal';
  /**
   * Entities: `modifiedAt`, `createdAt`, an attribute (its value) or `<attribute>.observedAt`. Instances: `observedAt`,
   * `modifiedAt`, `createdAt`, or `<attribute>.observedAt` for that attribute alone.
   */
  readonly by: string;
}

/** ISO 8601 with designators and whole numbers only; luxon alone would accept signs and fractions as well. */
const DURATION =
  /^P(?=\d|T\d)(?:\d{1,6}Y)?(?:\d{1,6}M)?(?:\d{1,6}W)?(?:\d{1,6}D)?(?:T(?=\d)(?:\d{1,6}H)?(?:\d{1,6}M)?(?:\d{1,6}S)?)?$/;

const OBSERVED_AT = '.observedAt';
const SYSTEM_TIMES = ['modifiedAt', 'createdAt'];
const TIME_PARAMETERS = ['timerel', 'timeAt', 'endTimeAt', 'timeproperty'];

/**
 * Returns the time that is a duration before now, in UTC and whole seconds, as brokers accept it. Days, weeks, months and years
 * follow the calendar of a time zone: a month before 31 May is 30 April, and a day may have 23 hours.
 *
 * @param olderThan a duration of ISO 8601, such as P90D
 * @param timeZone a name of the IANA database
 * @throws QueryRefusedError for anything but a duration, for a duration of zero, or for one that reaches back before the year
 *   1
 */
export function cutoffOf(nowMs: number, olderThan: string, timeZone = 'UTC'): string {
  const duration = DURATION.test(olderThan) ? Duration.fromISO(olderThan) : undefined;
  if (duration === undefined || duration.valueOf() === 0) {
    const detail = 'olderThan must be a duration of ISO 8601 and not zero, such as P90D or PT12H.';
    throw new QueryRefusedError('invalidRequest', detail, 'olderThan');
  }
  const cutoff = DateTime.fromMillis(nowMs, { zone: timeZone }).minus(duration).toUTC();
  if (!cutoff.isValid || cutoff.year < 1)
    throw new QueryRefusedError('invalidRequest', 'olderThan reaches too far back.', 'olderThan');
  return cutoff.startOf('second').toISO({ suppressMilliseconds: true });
}

/**
 * Narrows a purge to entities or instances that are older than a time. Those without that time never match.
 *
 * @param query a query string without its question mark
 * @param cutoff ISO 8601 in UTC; sent without quotes, because some brokers compare a quoted time as a string
 * @returns the parameters of the narrowed query
 * @throws QueryRefusedError for a query that cannot be narrowed, or would get another meaning
 */
export function olderThan(query: string, { target, by }: Age, cutoff: string): PurgeParameters {
  const accepted = target === 'entities' ? ENTITY_PARAMETERS : TEMPORAL_PARAMETERS;
  const parameters = new Map(parseParameters(query, accepted));
  if (target === 'entities') selectOlderEntities(parameters, by, cutoff);
  else selectOlderInstances(parameters, by, cutoff);
  return parameters;
}

function selectOlderEntities(parameters: Map<string, string>, by: string, cutoff: string): void {
  if (by === 'observedAt')
    throw refusedData(
      'by',
      'Entities have no observedAt of their own: name an attribute, as in speed.observedAt.',
    );
  if (!SYSTEM_TIMES.includes(by)) checkAttribute(withoutSuffix(by));
  const comparison = `${by}<${cutoff}`;
  checkComparison(comparison, by);
  const q = parameters.get('q');
  // q must be complete by itself: an unbalanced bracket would change what the comparison applies to.
  if (q !== undefined) parsed(() => parseQ(q));
  parameters.set('q', q === undefined ? comparison : `(${q});${comparison}`);
}

function selectOlderInstances(parameters: Map<string, string>, by: string, cutoff: string): void {
  const given = TIME_PARAMETERS.find((name) => parameters.has(name));
  if (given !== undefined)
    throw refusedData(given, `The age sets the time filter: leave ${given} out of the query.`);
  if (by !== 'observedAt' && !SYSTEM_TIMES.includes(by)) {
    const attribute = withoutSuffix(by);
    if (attribute === by) {
      throw refusedData(
        'by',
        'Instances are older by a time of theirs: use observedAt, modifiedAt, createdAt or the observedAt of an attribute, as in speed.observedAt.',
      );
    }
    checkAttribute(attribute);
    if (parameters.has('attrs'))
      throw refusedData('attrs', `${by} selects the attribute: leave attrs out of the query.`);
    parameters.set('attrs', attribute);
  }
  parameters.set('timerel', 'before');
  parameters.set('timeAt', cutoff);
  parameters.set('timeproperty', SYSTEM_TIMES.includes(by) ? by : 'observedAt');
}

function checkAttribute(name: string): void {
  checkName(name, 'by', 'an attribute name such as speed');
  if (NON_ATTRIBUTE_MEMBERS.has(name))
    throw refusedData('by', `${name} is not an attribute: use modifiedAt, createdAt or an attribute.`);
}

/** Requires that `q` reads a text as one comparison of exactly this path, because a name may contain operators. */
function checkComparison(comparison: string, by: string): void {
  const node = parsed(() => parseQ(comparison));
  const names = by.endsWith(OBSERVED_AT) ? [withoutSuffix(by), 'observedAt'] : [by];
  const isMeant =
    node.kind === 'order' &&
    node.path.link === null &&
    node.path.valuePath.length === 0 &&
    node.path.names.join(' ') === names.join(' ');
  if (!isMeant)
    throw refusedData(
      'by',
      'by must be modifiedAt, createdAt, an attribute, or its observedAt, as in speed.observedAt.',
    );
}

function withoutSuffix(by: string): string {
  return by.endsWith(OBSERVED_AT) ? by.slice(0, -OBSERVED_AT.length) : by;
}
