import type { EntityQuery, Selection } from './entity-query.js';
import type { StoredEntity } from './model.js';
import {
  type History,
  type TemporalInstance,
  ALWAYS,
  TIME_PROPERTIES,
  type TimeProperty,
  type KeyRange,
} from './temporal-history.js';
import type { Histories, TemporalEntity } from './temporal-store.js';
import { instantOf, temporalKindOf } from '../ngsi-ld/q-time.js';
import type { Behaviour } from './behaviour.js';
import { readCount, type Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';

export const TIME_PARAMETERS = ['timerel', 'timeAt', 'endTimeAt', 'timeproperty', 'lastN'] as const;

const RELATIONS = ['before', 'after', 'between'] as const;
/** Contains no time, not even that of instances without the time property. */
const NEVER: KeyRange = { from: Infinity, to: -Infinity };

/** Selects instances by time (clause 4.11); times are in milliseconds since the epoch. */
export interface TimeQuery {
  readonly property: TimeProperty;
  /** Undefined without a time query: all instances are selected, including those without the time property. */
  readonly relation: (typeof RELATIONS)[number] | undefined;
  readonly range: KeyRange;
  readonly lastN: number | undefined;
}

/**
 * Reads the time query of a temporal request.
 *
 * @param isNeeded whether it is required; ignored if the broker ignores `timerel`
 * @throws Refusal BadRequestData
 */
export function readTimeQuery(parameters: Parameters, behaviour: Behaviour, isNeeded: boolean): TimeQuery {
  const { property, isKept } = readTimeProperty(parameters, behaviour);
  const isIgnored = behaviour.ignoreParameters.includes('timerel');
  const relation = isIgnored ? undefined : readRelation(parameters, isNeeded);
  const lastN = readLastN(parameters, behaviour);
  if (relation === undefined) return { property, relation, range: ALWAYS, lastN };
  const { from, to } = readRange(parameters, relation);
  // Times are whole milliseconds, so adding 1 excludes the bound.
  const range = { from: behaviour.exclusiveBounds ? from + 1 : from, to };
  return { property, relation, range: isKept ? range : NEVER, lastN };
}

function readTimeProperty(parameters: Parameters, behaviour: Behaviour) {
  const name = parameters.get('timeproperty') ?? 'observedAt';
  const property = TIME_PROPERTIES.find((each) => each === name);
  // Deleted instances are not kept, so no instance has a deletedAt.
  if (property === undefined && name !== 'deletedAt') {
    throw refusals.badRequest(`timeproperty must be one of ${TIME_PROPERTIES.join(', ')}, deletedAt`);
  }
  if (behaviour.refusedTimeProperties.includes(name)) {
    throw refusals.badRequest(`timeproperty ${name} is not supported`);
  }
  const isKept = property !== undefined && !behaviour.timePropertiesMissing.includes(name);
  return { property: property ?? 'observedAt', isKept };
}

function readRelation(parameters: Parameters, isNeeded: boolean): TimeQuery['relation'] {
  const text = parameters.get('timerel');
  const relation = RELATIONS.find((each) => each === text);
  if (text !== undefined && relation === undefined) {
    throw refusals.badRequest(`timerel must be one of ${RELATIONS.join(', ')}`);
  }
  if (relation === undefined && (isNeeded || parameters.has('timeAt') || parameters.has('endTimeAt'))) {
    throw refusals.badRequest('The time query is missing: add timerel and timeAt');
  }
  return relation;
}

function readRange(parameters: Parameters, relation: (typeof RELATIONS)[number]): KeyRange {
  if (relation !== 'between' && parameters.has('endTimeAt')) {
    throw refusals.badRequest('endTimeAt requires timerel=between');
  }
  const timeAt = readDateTime(parameters, 'timeAt');
  switch (relation) {
    case 'before':
      return { from: -Number.MAX_VALUE, to: timeAt };
    case 'after':
      return { from: timeAt, to: Infinity };
    case 'between':
      return { from: timeAt, to: readDateTime(parameters, 'endTimeAt') };
  }
}

function readDateTime(parameters: Parameters, name: string): number {
  const text = parameters.get(name) ?? '';
  const instant = temporalKindOf(text) === 'dateTime' ? instantOf(text) : undefined;
  if (instant === undefined)
    throw refusals.badRequest(`${name} must be a date-time like 2026-01-31T12:00:00Z`);
  return instant;
}

function readLastN(parameters: Parameters, behaviour: Behaviour): number | undefined {
  if (!parameters.has('lastN')) return undefined;
  if (behaviour.noLastN) throw refusals.badRequest('lastN is not supported');
  const lastN = readCount(parameters, 'lastN', 0);
  if (lastN === 0) throw refusals.badRequest('lastN must be an integer of 1 or more');
  return lastN;
}

/**
 * Makes the query for temporal entities (clause 5.7.4). A match has an instance in the interval, of an attribute in
 * `attrs` if given, and its instances in the interval satisfy `q` and the geoquery.
 */
export function temporalEntityQuery(selection: Selection, time: TimeQuery): EntityQuery<Histories> {
  const { ids, type, filters, attrs, valueFilters } = selection;
  const isInTime = (entity: TemporalEntity) => hasInstanceInTime(entity, attrs, time);
  const hasValues = (entity: TemporalEntity) => {
    const view = viewOf(entity, time);
    return valueFilters.every((filter) => filter(view));
  };
  return { ids, type, filters: [...filters, isInTime, ...(valueFilters.length > 0 ? [hasValues] : [])] };
}

/** Whether an entity has an instance in the interval, of one of the named attributes or, without names, of any. */
export function hasInstanceInTime(
  entity: TemporalEntity,
  attrs: readonly string[] | undefined,
  { property, range }: TimeQuery,
): boolean {
  const isHere = (history: History | undefined) => history?.hasWithin(property, range) === true;
  if (attrs !== undefined) return attrs.some((name) => isHere(entity.attributes.get(name)));
  for (const history of entity.attributes.values()) if (isHere(history)) return true;
  return false;
}

/** Returns the entity with only the instances in the interval, so that filters for current entities can be applied. */
function viewOf(entity: TemporalEntity, { property, range }: TimeQuery): StoredEntity {
  const instancesIn = (history: History) => [...history.within(property, range)];
  const attributes = Array.from(entity.attributes, ([name, history]) => ({
    name,
    instances: instancesIn(history),
  }));
  return { ...entity, attributes };
}

/** Makes the check whether a single instance satisfies the value filters. */
export function matchesAlone(
  entity: TemporalEntity,
  history: History,
  { valueFilters }: Selection,
): (instance: TemporalInstance) => boolean {
  const [name = ''] = [...entity.attributes].find(([, other]) => other === history) ?? [];
  return (instance) => {
    const view = { ...entity, attributes: [{ name, instances: [instance] }] };
    return valueFilters.every((filter) => filter(view));
  };
}
