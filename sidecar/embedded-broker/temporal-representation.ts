import type { JsonObject, JsonValue } from '../shared/json/json.js';
import { readFormats, readProjection } from './entity-query.js';
import type { BrokerContext } from './exchange.js';
import { isUri } from './model.js';
import { readList, type Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';
import { headMembers, isPicked, times } from './representation.js';
import type { Datasets } from './temporal-choice.js';
import type { History, InstanceIds, TemporalInstance } from './temporal-history.js';
import type { TemporalEntity } from './temporal-store.js';

export const TEMPORAL_SHOWING_PARAMETERS = [
  'pick', 'datasetId', 'format', 'options', 'aggrMethods', 'aggrPeriodDuration',
] as const; // oxfmt-ignore

/** Which members of a temporal entity to show, and how (clauses 4.5.6 to 4.5.8). */
export interface TemporalRepresentation {
  readonly sysAttrs: boolean;
  /** Members to show; undefined for all. */
  readonly pick: ReadonlySet<string> | undefined;
  readonly instanceIds: boolean;
  /** Show the only instance of an attribute as an object instead of an array. */
  readonly singleAsObject: boolean;
}

/** Reads `pick`, `attrs` (as projection), `format` and `options`. @throws Refusal 400, 501 */
export function readTemporalRepresentation(
  parameters: Parameters,
  { behaviour }: BrokerContext,
): TemporalRepresentation {
  if (parameters.has('aggrMethods') || parameters.has('aggrPeriodDuration')) {
    throw refusals.notImplemented('Only the normalized temporal representation is supported');
  }
  const wanted = readFormats(parameters, ['normalized', 'sysAttrs'], ['temporalValues', 'aggregatedValues']);
  return {
    sysAttrs: wanted.includes('sysAttrs'),
    pick: readProjection(parameters),
    instanceIds: !behaviour.noInstanceIds,
    singleAsObject: true,
  };
}

/** Reads `datasetId` as a list; undefined when absent. @throws Refusal BadRequestData */
export function readDatasets(parameters: Parameters): Datasets | undefined {
  const names = readList(parameters, 'datasetId');
  if (names?.every((name) => name === '@none' || isUri(name)) === false) {
    throw refusals.badRequest('datasetId must be a list of URIs or @none');
  }
  return names && new Set(names.map((name) => (name === '@none' ? undefined : name)));
}

/** Returns a temporal entity as JSON, with the instances of each attribute that `choose` selects. */
export function representTemporal(
  entity: TemporalEntity,
  ids: InstanceIds,
  { pick, sysAttrs, instanceIds, singleAsObject }: TemporalRepresentation,
  choose: (history: History) => readonly TemporalInstance[],
): JsonObject {
  const members = headMembers(entity, sysAttrs).filter(([name]) => isPicked(pick, name));
  for (const [name, history] of entity.attributes) {
    if (!isPicked(pick, name)) continue;
    const bodies: JsonValue[] = choose(history).map((instance) => ({
      ...instance.body,
      ...(instanceIds ? { instanceId: ids.idOf(instance) } : {}),
      ...(sysAttrs ? times(instance) : {}),
    }));
    const [first] = bodies;
    if (first !== undefined) members.push([name, singleAsObject && bodies.length === 1 ? first : bodies]);
  }
  // Defines members instead of setting them, so a name cannot reach a prototype.
  return Object.fromEntries(members);
}
