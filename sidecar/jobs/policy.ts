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
