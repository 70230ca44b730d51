import { type ChangedPointer, changedPointers } from '../../shared/json/changed-pointers.js';
import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { compareModels } from './compare-models.js';
import type { ChangeReport } from './differences.js';
import type { TermMeanings } from './meaning.js';

export interface DocumentTexts {
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
