import { createHash } from 'node:crypto';
import { ownAttributesOf } from '../../ngsi-ld/entity-members.js';
import { NO_DATASET } from '../attributes/datasets.js';
import { BrokerReplyError } from '../errors.js';
import type { TimeProperty } from './time-filter.js';

/** The parts of an attribute instance that a purge needs. */
export interface AttributeInstance {
  /** Undefined where the broker does not show it. */
  readonly instanceId: string | undefined;
  /** `@none` if the instance has none. */
  readonly datasetId: string;
  /** The value of the query's timeproperty; undefined if the instance does not show it. */
  readonly time: string | undefined;
  /** When the broker stored it, if shown. */
  readonly createdAt: string | undefined;
  /** Its value, if that is a number. */
  readonly number: number | undefined;
  /** Identifies an instance without an instanceId. */
  readonly digest: string | undefined;
}

/** The instances of one attribute of one entity. */
export interface InstanceList {
  readonly attribute: string;
  readonly instances: readonly AttributeInstance[];
}

/**
 * The instances in a temporal evolution: an array for each attribute, or an object for a single one (clauses 4.5.7, 4.5.8).
 *
 * @param property the time to read
 * @throws BrokerReplyError when an attribute is neither
 */
export function instanceListsOf(
  entity: Readonly<Record<string, unknown>>,
  property: TimeProperty,
): readonly InstanceList[] {
  return ownAttributesOf(entity).map((attribute) => {
    const shown: readonly unknown[] = [entity[attribute]].flat();
    return { attribute, instances: shown.map((instance) => readInstance(instance, property)) };
  });
}

function readInstance(instance: unknown, property: TimeProperty): AttributeInstance {
  if (typeof instance !== 'object' || instance === null || Array.isArray(instance)) {
    throw new BrokerReplyError(
      'The broker shows an attribute of a temporal entity that is not made of instances.',
    );
  }
  const {
    instanceId,
    datasetId,
    createdAt,
    value,
    [property]: time,
  } = instance as Readonly<Record<string, unknown>>;
  const hasId = typeof instanceId === 'string' && instanceId !== '';
  return {
    instanceId: hasId ? instanceId : undefined,
    datasetId: typeof datasetId === 'string' && datasetId !== '' ? datasetId : NO_DATASET,
    time: typeof time === 'string' ? time : undefined,
    createdAt: typeof createdAt === 'string' ? createdAt : undefined,
    number: typeof value === 'number' ? value : undefined,
    digest: hasId ? undefined : digestOf(instance),
  };
}

/** A digest of the instance without createdAt and modifiedAt, which are not always requested. */
function digestOf(instance: object): string {
  const content = { ...instance, createdAt: undefined, modifiedAt: undefined };
  try {
    return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  } catch (cause) {
    throw new BrokerReplyError('The broker shows an instance that is nested too deeply.', { cause });
  }
}
