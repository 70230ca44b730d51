import {
  isArray,
  isObject,
  type JsonValue,
  LosslessNumber,
  pointerTo,
  jsonEquals,
} from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { parsedSchema } from './bundle.js';
import { compareSchemas } from './change-report.js';
import { type ChangeReport, reportOf } from './differences.js';
import { meaningChanges, type MeaningSource } from './meaning.js';
import type { TermMeanings } from './term-changes.js';
import { typeChanges } from './type-changes.js';
import { differencesWithWitnesses } from './witness.js';

/** A place where two documents differ, in the terms of JSON Patch (RFC 6902). */
export interface ChangedPointer {
  readonly op: 'add' | 'remove' | 'replace';
  /** JSON pointer (RFC 6901) into the new document, or into the old one for what was removed. */
  readonly pointer: string;
}

/**
 * Finds where two documents differ: the innermost members and items that were added, removed or changed. They are in
 * the order of the old document, followed by those that are new. Items are compared by index, and the order of
 * members does not matter.
 */
export function changedPointers(before: JsonValue, after: JsonValue): readonly ChangedPointer[] {
  return [...changesIn(before, after, '')];
}

function* changesIn(before: JsonValue, after: JsonValue, pointer: string): Iterable<ChangedPointer> {
  if (before === after || (before instanceof LosslessNumber && jsonEquals(before, after))) return;
  const [old, fresh] = [membersOf(before), membersOf(after)];
  if (old === undefined || fresh === undefined || isArray(before) !== isArray(after)) {
    yield { op: 'replace', pointer };
    return;
  }
  for (const [name, value] of old) {
    const other = fresh.get(name);
    if (other === undefined) yield { op: 'remove', pointer: pointerTo(pointer, name) };
    else yield* changesIn(value, other, pointerTo(pointer, name));
  }
  for (const name of fresh.keys()) if (!old.has(name)) yield { op: 'add', pointer: pointerTo(pointer, name) };
}

function membersOf(value: JsonValue): ReadonlyMap<string, JsonValue> | undefined {
  return isArray(value) || isObject(value) ? new Map(Object.entries(value)) : undefined;
}

interface DocumentTexts {
  readonly before: string;
  readonly after: string;
}

/** The texts of two self-contained schemas, and the meanings of the terms of their contexts. */
export interface CompareInput extends DocumentTexts {
  readonly terms?: { readonly before: TermMeanings; readonly after: TermMeanings };
  /** The name of the model. */
  readonly entityType?: string;
  readonly withWitnesses?: boolean;
}

/** Tasks on schemas that run in a worker, because they may take long and execute users' patterns. */
export const schemaTasks = {
  /** Compares two versions of a model; see `compareModels`. */
  compareSchemas({ before, after, terms, entityType, withWitnesses }: CompareInput): ChangeReport {
    return compareModels(
      { schema: parsedSchema(before), terms: terms?.before },
      { schema: parsedSchema(after), terms: terms?.after },
      { entityType, withWitnesses },
    );
  },

  /** Finds where two JSON documents differ; see `changedPointers`. */
  changedPointers({ before, after }: DocumentTexts): readonly ChangedPointer[] {
    return changedPointers(parseJson(before) as JsonValue, parseJson(after) as JsonValue);
  },
};

export type SchemaTasks = typeof schemaTasks;

interface CompareOptions {
  /** The name of the model, if the documents are its entities. */
  readonly entityType?: string | undefined;
  /** Whether to search for witnesses. Only in a worker, because the search executes patterns. */
  readonly withWitnesses?: boolean | undefined;
}

/**
 * Compares two versions of a model: what its schema accepts, and what its data means.
 *
 * @throws {SchemaRefusedError} when a schema is not self-contained
 */
export function compareModels(
  before: MeaningSource,
  after: MeaningSource,
  { withWitnesses = false, entityType }: CompareOptions = {},
): ChangeReport {
  const bySchema = withWitnesses
    ? differencesWithWitnesses(before.schema, after.schema, entityType)
    : compareSchemas(before.schema, after.schema, entityType).differences;
  const ofTypes = entityType === undefined ? [] : typeChanges(before.schema, after.schema, entityType);
  return reportOf([...meaningChanges(before, after), ...ofTypes, ...bySchema]);
}
