import { FilterIgnoredError, QueryRefusedError } from '../errors.js';
import type { AttributeInstance } from './instances.js';
import type { TemporalPurgeQuery } from './query.js';
import { containment } from './time-filter.js';

/**
 * Checks each shown instance against the query's attrs, datasetId and interval, so that an ignored filter cannot widen a
 * delete.
 */
export interface InstanceGuard {
  /**
   * The broker is known to honour attrs by then, so it must use another name for the attribute.
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
        `The broker shows the attribute ${short(attribute)} of ${short(entityId)}, which attrs does not name. Use that name, or send the @context that defines yours. Nothing more is deleted.`,
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
          `The broker shows an instance of ${short(attribute)} of ${short(entityId)} with ${time.property} ${short(instance.time)}, which is outside the interval. Nothing more is deleted.`,
        );
      }
    },
  };
}

function short(text: string): string {
  return text.slice(0, 200);
}
