import { DEFAULT_DATASET, NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { isUri } from '../../ngsi-ld/names.js';
import {
  itemsOf,
  namesOf,
  parseParameters,
  TEMPORAL_PARAMETERS,
  type Parameter,
  type PurgeParameters,
  refusedData,
  vetSelection,
  type PurgeQuery,
  type WholeTenant,
} from '../query/index.js';
import { parseTimeFilter, timeParameters, type TimeFilter } from './time-filter.js';

/** What a temporal purge deletes of each match: the largest unit that contains nothing else. */
type TemporalTarget =
  /** The whole temporal entity (clause 5.6.16). */
  | { readonly kind: 'entities' }
  /** The shown attributes with all their instances (clause 5.6.13). */
  | { readonly kind: 'attributes' }
  /** Datasets of the shown attributes; `@none` stands for the instances without a datasetId. */
  | { readonly kind: 'datasets'; readonly datasetIds: readonly string[] }
  /** Each shown instance (clause 5.6.15). */
  | { readonly kind: 'instances'; readonly time: TimeFilter };

/** A vetted query of a temporal purge. */
export interface TemporalPurgeQuery extends PurgeQuery {
  readonly target: TemporalTarget;
  /** The attributes that the query names. */
  readonly attributes: readonly string[] | undefined;
  /** The datasets that the query names. */
  readonly datasetIds: readonly string[] | undefined;
}

const MAX_DATASETS = 100;

/**
 * Parses and vets the query string of `DELETE /ngsi-ld/v1/temporal/entities`. This operation is an extension of this product:
 * it deletes what the same GET (clause 6.18.3.2) would show.
 *
 * @param query the query string without its question mark, or its parameters
 * @param wholeTenant how to treat a purge that may empty its tenant
 * @throws QueryRefusedError for anything unknown, ambiguous, unparsable or too wide
 * @throws PolicyRefusedError for a purge that may empty its tenant, if the policy refuses those
 */
export function parseTemporalPurgeQuery(
  query: string | PurgeParameters,
  wholeTenant: WholeTenant = 'bounded',
): TemporalPurgeQuery {
  const parameters = parseParameters(query, TEMPORAL_PARAMETERS);
  const time = parseTimeFilter(parameters);
  const vetted = vetSelection(parameters, { wholeTenant, narrowsFurther: time !== undefined });
  const attributes = namesOf(parameters, 'attrs');
  for (const name of attributes ?? []) {
    if (NON_ATTRIBUTE_MEMBERS.has(name)) {
      throw refusedData('attrs', `${name} is not an attribute that can be purged.`);
    }
  }
  const datasetIds = datasetIdsOf(parameters);
  return {
    ...vetted,
    selection: [...vetted.selection, ...filtersOf(parameters, time)],
    attributes,
    datasetIds,
    target: targetOf(time, attributes, datasetIds),
  };
}

function targetOf(
  time: TimeFilter | undefined,
  attributes: readonly string[] | undefined,
  datasetIds: readonly string[] | undefined,
): TemporalTarget {
  if (time !== undefined) return { kind: 'instances', time };
  if (datasetIds !== undefined) return { kind: 'datasets', datasetIds };
  return { kind: attributes === undefined ? 'entities' : 'attributes' };
}

function filtersOf(
  parameters: ReadonlyMap<string, string>,
  time: TimeFilter | undefined,
): readonly Parameter[] {
  const datasetId = parameters.get('datasetId');
  return [
    ...(datasetId === undefined ? [] : [{ name: 'datasetId', value: datasetId }]),
    ...(time === undefined ? [] : timeParameters(time)),
  ];
}

function datasetIdsOf(parameters: ReadonlyMap<string, string>): readonly string[] | undefined {
  const names = itemsOf(parameters, 'datasetId');
  if (names === undefined) return undefined;
  const datasetIds = [...new Set(names)];
  if (datasetIds.length > MAX_DATASETS) {
    throw refusedData('datasetId', `A purge takes at most ${MAX_DATASETS} datasets at a time.`);
  }
  for (const id of datasetIds) {
    if (id !== DEFAULT_DATASET && !isUri(id)) {
      const detail = `datasetId must be a URI, or ${DEFAULT_DATASET} for the instances without one: "${id.slice(0, 200)}" is neither.`;
      throw refusedData('datasetId', detail);
    }
  }
  return datasetIds;
}
