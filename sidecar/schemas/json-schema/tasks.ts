import { type ChangedPointer, changedPointers } from '../../shared/json/changed-pointers.js';
import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { compareSchemas } from './change-report.js';
import { type ChangeReport, reportOf } from './differences.js';
import { meaningChanges, type MeaningSource, type TermMeanings } from './meaning.js';
import { differencesWithWitnesses, type WitnessOptions } from './witness.js';

interface DocumentTexts {
  readonly before: string;
  readonly after: string;
}

/** Texts of two self-contained schemas, and what the terms of their contexts mean. */
export interface CompareInput extends DocumentTexts {
  readonly terms?: { readonly before: TermMeanings; readonly after: TermMeanings };
  /** The model's name. */
  readonly entityType?: string;
  readonly withWitnesses?: boolean;
}

/** Tasks on schemas that run in a worker because they may take long and execute patterns of users. */
export const schemaTasks = {
  /** What changes between two versions; see `compareModels`. */
  compareSchemas({ before, after, terms, entityType, withWitnesses }: CompareInput): ChangeReport {
    const [old, fresh] = [parseJson(before) as JsonObject, parseJson(after) as JsonObject];
    return compareModels(
      { schema: old, terms: terms?.before },
      { schema: fresh, terms: terms?.after },
      { entityType, withWitnesses },
    );
  },

  /** Where the texts of two JSON documents differ; see `changedPointers`. */
  changedPointers({ before, after }: DocumentTexts): readonly ChangedPointer[] {
    return changedPointers(parseJson(before) as JsonValue, parseJson(after) as JsonValue);
  },
};

export type SchemaTasks = typeof schemaTasks;

interface CompareOptions extends WitnessOptions {
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
