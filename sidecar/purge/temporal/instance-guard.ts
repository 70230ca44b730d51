import { FilterIgnoredError, QueryRefusedError } from '../errors.js';
import type { AttributeInstance } from './instances.js';
import type { TemporalPurgeQuery } from './query.js';
import { containment } from './time-filter.js';

/**
 * Checks what a broker shows of an entity against the query's own attrs, datasetId and interval: a filter that it
 * ignores must not widen a delete.
 */
export interface InstanceGuard {
  /**
   * That the broker honours attrs is proven by then, so that the attribute has another name there.
   *
   * @throws QueryRefusedError for an attribute that the query does not name
   */
  checkAttribute(entityId: string, attribute: string): void;
  /** @throws FilterIgnoredError for an instance that the query excludes */
  checkInstance(entityId: string, attribute: string, instance: AttributeInstance): void;
}

export function createInstanceGuard(query: TemporalPurgeQuery): InstanceGuard {
  const attributes = query.attributes === undefined ? undefined : new Set(query.attributes);
  const datasetIds = query.datasetIds === undefined ? undefined : new Set(query.datasetIds);
  const { target } = query;
  const time = target.kind === 'instances' ? target.time : undefined;
  const isWithin = time === undefined ? () => true : containment(time);
  return {
    checkAttribute(entityId, attribute) {
      if (attributes?.has(attribute) !== false) return;
      throw new QueryRefusedError(
        'badRequestData',
        `The broker shows the attribute ${short(attribute)} of ${short(entityId)}, which attrs does not name: name it so, or send the @context in which it has another name. Nothing more is deleted.`,
        'attrs',
      );
    },
    checkInstance(entityId, attribute, instance) {
      if (datasetIds?.has(instance.datasetId) === false) {
        throw new FilterIgnoredError(
          'datasetId',
          `The broker shows an instance of ${short(attribute)} of ${short(entityId)} in the dataset ${short(instance.datasetId)}, which datasetId does not name. Nothing more is deleted.`,
        );
      }
      if (time !== undefined && instance.time !== undefined && !isWithin(instance.time)) {
        throw new FilterIgnoredError(
          'timerel',
          `The broker shows an instance of ${short(attribute)} of ${short(entityId)} with ${time.property} ${short(instance.time)}, which lies outside of the interval. Nothing more is deleted.`,
        );
      }
    },
  };
}

function short(text: string): string {
  return text.slice(0, 200);
}
