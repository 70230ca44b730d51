import type { JsonObject } from '../../shared/json/json.js';
import { compareModels } from './compare-models.js';
import type { ChangeReport } from './differences.js';
import type { TermMeanings } from './meaning.js';

/** Texts of two self-contained schemas, and what the terms of their contexts mean. */
export interface CompareInput {
  readonly before: string;
  readonly after: string;
  readonly terms?: { readonly before: TermMeanings; readonly after: TermMeanings };
}

/** Tasks on schemas that run in a worker because they may take long. */
export const schemaTasks = {
  /** What changes between two versions; see `compareModels`. */
  compareSchemas({ before, after, terms }: CompareInput): ChangeReport {
    return compareModels(
      { schema: JSON.parse(before) as JsonObject, terms: terms?.before },
      { schema: JSON.parse(after) as JsonObject, terms: terms?.after },
    );
  },
};

export type SchemaTasks = typeof schemaTasks;
