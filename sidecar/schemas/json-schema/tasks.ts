import type { JsonObject } from '../../shared/json/json.js';
import { type ChangeReport, compareSchemas } from './change-report.js';

/** Texts of two self-contained schemas. */
export interface CompareInput {
  readonly before: string;
  readonly after: string;
}

/** Tasks on schemas that run in a worker because they may take long. */
export const schemaTasks = {
  /** What changes between two versions; see `compareSchemas`. */
  compareSchemas({ before, after }: CompareInput): ChangeReport {
    return compareSchemas(JSON.parse(before) as JsonObject, JSON.parse(after) as JsonObject);
  },
};

export type SchemaTasks = typeof schemaTasks;
