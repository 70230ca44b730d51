import { compareSchemas } from './change-report.js';
import { type ChangeReport, reportOf } from './differences.js';
import { meaningChanges, type MeaningSource } from './meaning.js';

/**
 * What changes between two versions of a model: what its schema accepts, and what its data means.
 *
 * @throws {SchemaRefusedError} when a schema is not self-contained
 */
export function compareModels(before: MeaningSource, after: MeaningSource): ChangeReport {
  const { differences } = compareSchemas(before.schema, after.schema);
  return reportOf([...meaningChanges(before, after), ...differences]);
}
