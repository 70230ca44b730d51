import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialect, DIALECT_URIS } from '../../../sidecar/schemas/json-schema/keywords.js';
import { resolveUri } from '../../../sidecar/schemas/json-schema/uri.js';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../../sidecar/shared/json/json.js';
import { ROOT } from '../project.js';

/** A schema of the official suite, in one draft, with values and whether each is valid. */
export interface SuiteCase {
  /**
   * The file of the suite and the number of the group in it, for the first draft that has the case.
   */
  readonly name: string;
  readonly dialect: Dialect;
  readonly schema: Schema;
  readonly values: readonly (readonly [value: JsonValue, isValid: boolean])[];
}

type Line = readonly [
  name: string,
  drafts: readonly Dialect[],
  schema: Schema,
  values: readonly (readonly [JsonValue, boolean])[],
];

/** Every case, once for each draft that has it. */
export const SUITE_CASES: readonly SuiteCase[] = linesOf('cases.jsonl').flatMap((line) => {
  const [name, drafts, schema, values] = line as Line;
  return drafts.map((dialect) => ({ name, dialect, schema, values }));
});

/** Documents that the cases refer to, by URI. */
export const SUITE_DOCUMENTS: ReadonlyMap<string, JsonValue> = new Map(
  linesOf('documents.jsonl').map((line) => line as [string, JsonValue]),
);

function linesOf(file: string): readonly unknown[] {
  const text = readFileSync(join(ROOT, 'test/support/json-schema-suite', file), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

/**
 * Returns the URI under which the schema of a case has to be stored so that its references resolve:
 * its own URI if documents can be stored under it.
 */
export function uriOf({ schema }: SuiteCase): string {
  const id = isObject(schema) ? member(schema, '$id') : undefined;
  const other = 'http://cases.example/case.json';
  const own = typeof id === 'string' ? resolveUri(id, other)?.uri : undefined;
  return own !== undefined && /^(?:https?|urn):/.test(own) ? own : other;
}

/** Returns the schema of a model whose attribute `value` is described by the case. */
export function modelOf(one: SuiteCase): JsonObject {
  return { $schema: DIALECT_URIS[one.dialect], properties: { value: { $ref: uriOf(one) } } };
}

/** Returns an entity of the model with that name, as key-values, with a value. */
export function entityOf(type: string, value: JsonValue): JsonObject {
  return { id: 'urn:ngsi-ld:Case:1', type, value };
}
