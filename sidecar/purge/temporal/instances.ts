import { hash } from 'node:crypto';
import { DEFAULT_DATASET, attributeNames } from '../../ngsi-ld/members.js';
import type { JsonValue } from '../../shared/json/json.js';
import { deleteItem, type ItemDelete } from '../attributes/index.js';
import { BrokerReplyError, FilterIgnoredError, QueryRefusedError } from '../errors.js';
import { type TimeProperty, type TimeFilter, containment } from './time-filter.js';
import type { BrokerProblem, DeleteResult } from '../broker/index.js';
import { problemTypeUri } from '../../shared/problem.js';
import type { PurgeScope } from '../run/index.js';
import { attributePath } from '../proof/index.js';
import type { Item } from '../ledger/index.js';
import type { TemporalPurgeQuery } from './query.js';

/** The parts of an attribute instance that a purge needs. */
export interface AttributeInstance {
  /** Undefined if the broker does not show it. */
  readonly instanceId: string | undefined;
  /** `@none` if the instance has none. */
  readonly datasetId: string;
  /** The value of the query's timeproperty; undefined if the instance does not show it. */
  readonly time: string | undefined;
  /** When the broker stored the instance, if shown. */
  readonly createdAt: string | undefined;
  /** The value, if it is a number. */
  readonly number: number | undefined;
  /** Identifies an instance without an instanceId. */
  readonly digest: string | undefined;
  /** The instance as the broker shows it. */
  readonly shown: JsonValue;
}

interface InstanceList {
  readonly attribute: string;
  readonly instances: readonly AttributeInstance[];
}

/**
 * Reads the instances in a temporal evolution, which has an array for each attribute, or an object for a single instance
 * (clauses 4.5.7, 4.5.8).
 *
 * @param property the time to read
 * @throws BrokerReplyError if an attribute is neither
 */
export function instanceListsOf(
  entity: Readonly<Record<string, unknown>>,
  property: TimeProperty,
): readonly InstanceList[] {
  return attributeNames(entity).map((attribute) => {
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
    datasetId: typeof datasetId === 'string' && datasetId !== '' ? datasetId : DEFAULT_DATASET,
    time: typeof time === 'string' ? time : undefined,
    createdAt: typeof createdAt === 'string' ? createdAt : undefined,
    number: typeof value === 'number' ? value : undefined,
    digest: hasId ? undefined : digestOf(instance),
    shown: instance as JsonValue,
  };
}

/** Computes a digest of the instance without createdAt and modifiedAt, which are not always requested. */
function digestOf(instance: object): string {
  const content = { ...instance, createdAt: undefined, modifiedAt: undefined };
  try {
    return hash('sha256', JSON.stringify(content), 'base64url');
  } catch (cause) {
    throw new BrokerReplyError('The broker shows an instance that is nested too deeply.', { cause });
  }
}

/** Returns what distinguishes an instance from the others in its list: its id, or a digest if it has none. */
export function identityOf({ instanceId, digest }: AttributeInstance): string {
  return instanceId ?? digest ?? '';
}

/** Converts an instance to an item of a purge. */
export function toItem(
  entityId: string,
  attribute: string,
  { instanceId, digest, datasetId, time, createdAt }: AttributeInstance,
  { property }: TimeFilter,
): Item {
  const times = {
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(time === undefined ? {} : { [property]: time }),
  };
  return {
    entityId,
    attribute,
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(digest === undefined ? {} : { digest }),
    ...(datasetId === DEFAULT_DATASET ? {} : { datasetId }),
    ...(Object.keys(times).length === 0 ? {} : { time: times }),
  };
}

/** The problem of an attribute with remaining instances that the query may include but does not show. */
export const OUT_OF_SIGHT: BrokerProblem = {
  type: problemTypeUri('instances-out-of-sight'),
  status: 501,
  title: 'Instances out of sight',
  detail:
    'The broker shows only some of the instances in the interval, and it is ' +
    'unclear whether the query matches the others. Purge them by id and time.',
};

/**
 * Deletes one instance (clause 6.22.3.2). An instance shown without an instanceId, or without the time that the query selects
 * by, is refused without sending a request.
 *
 * @throws BrokerRefusedError if the broker has no such operation
 */
export async function removeInstance(
  scope: Pick<PurgeScope, 'requester' | 'ledger'>,
  item: Item,
  { property }: TimeFilter,
  timing: Pick<ItemDelete, 'isStale' | 'onSend'>,
): Promise<DeleteResult> {
  const { entityId, attribute, instanceId, time } = item;
  if (instanceId === undefined) {
    return refused(
      problemTypeUri('instance-without-id'),
      'Instance without instanceId',
      'The broker shows no instanceId, so this instance cannot be deleted alone; a wider delete would remove others too.',
    );
  }
  if (time?.[property] === undefined) {
    return refused(
      problemTypeUri('instance-without-time'),
      `Instance without ${property}`,
      `The broker shows the instance without ${property}, so it may lie outside the interval.`,
    );
  }
  return deleteItem(scope, item, {
    path: attributePath('/temporal/entities', entityId, attribute ?? '', instanceId),
    operation: 'delete an attribute instance',
    ...timing,
  });
}

function refused(type: string, title: string, detail: string): DeleteResult {
  return { kind: 'refused', problem: { type, status: 501, title, detail } };
}

/**
 * Checks each shown instance against the query's attrs, datasetId and interval, so that an ignored filter cannot widen a
 * delete.
 */
export interface InstanceGuard {
  /**
   * Checks that the query names an attribute. The broker is known to honour attrs by now, so an attribute that is not named
   * must be a named one under another name.
   *
   * @throws QueryRefusedError for an attribute that the query does not name
   */
  checkAttribute(entityId: string, attribute: string): void;
  /** @throws FilterIgnoredError for an instance whose dataset, or shown time, the query excludes */
  checkInstance(entityId: string, attribute: string, instance: AttributeInstance): void;
}

/** Returns the guard for a query. */
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
        `The broker shows the attribute ${short(attribute)} of ${short(entityId)}, which attrs does ` +
          'not name. Use that name, or send the @context that defines yours. Nothing more is deleted.',
        'attrs',
      );
    },
    checkInstance(entityId, attribute, instance) {
      if (datasetIds?.has(instance.datasetId) === false) {
        throw new FilterIgnoredError(
          'datasetId',
          `The broker shows an instance of ${short(attribute)} of ${short(entityId)} in the dataset ` +
            `${short(instance.datasetId)}, which datasetId does not name. Nothing more is deleted.`,
        );
      }
      if (time !== undefined && instance.time !== undefined && !isWithin(instance.time)) {
        throw new FilterIgnoredError(
          'timerel',
          `The broker shows an instance of ${short(attribute)} of ` +
            `${short(entityId)} with ${time.property} ${short(instance.time)}, ` +
            'which is outside the interval. Nothing more is deleted.',
        );
      }
    },
  };
}

function short(text: string): string {
  return text.slice(0, 200);
}
