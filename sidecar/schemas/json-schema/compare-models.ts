import { compareSchemas } from './change-report.js';
import { type ChangeReport, reportOf } from './differences.js';
import { meaningChanges, type MeaningSource } from './meaning.js';
import { differencesWithWitnesses, type WitnessOptions } from './witness.js';

export interface CompareOptions extends WitnessOptions {
  /** Whether witnesses are looked for: only in a worker, as patterns are executed then. */
  readonly withWitnesses?: boolean | undefined;
}

/**
 * What changes between two versions of a model: what its schema accepts, and what its data means.
 *
 * @throws {SchemaRefusedError} when a schema is not self-contained
 */
export function compareModels(
  before: MeaningSource,
  after: MeaningSource,
  { withWitnesses = false, ...options }: CompareOptions = {},
): ChangeReport {
  const bySchema = withWitnesses
    ? differencesWithWitnesses(before.schema, after.schema, options)
    : compareSchemas(before.schema, after.schema, options.entityType).differences;
  return reportOf([...meaningChanges(before, after), ...bySchema]);
}
