/**
 * The policy of the gateway in front, e.g. of a Kong consumer: what a purge may do however it is started. Every member is
 * optional, and can only narrow what the configuration allows.
 */
export interface PurgePolicy {
  readonly maxAffected?: number;
  readonly pageSize?: number;
  readonly batchSize?: number;
  readonly concurrency?: number;
  readonly temporalConcurrency?: number;
  readonly dryRunOnly?: boolean;
  readonly allowTemporal?: boolean;
}

/** What two policies allow together: the least of each bound. */
export function narrowest(one: PurgePolicy, other: PurgePolicy): PurgePolicy {
  const least = (name: 'maxAffected' | 'pageSize' | 'batchSize' | 'concurrency' | 'temporalConcurrency') => {
    const bounds = [one[name], other[name]].filter((bound) => bound !== undefined);
    return bounds.length === 0 ? {} : { [name]: Math.min(...bounds) };
  };
  return {
    ...least('maxAffected'),
    ...least('pageSize'),
    ...least('batchSize'),
    ...least('concurrency'),
    ...least('temporalConcurrency'),
    ...(one.dryRunOnly === true || other.dryRunOnly === true ? { dryRunOnly: true } : {}),
    ...(one.allowTemporal === false || other.allowTemporal === false ? { allowTemporal: false } : {}),
  };
}
