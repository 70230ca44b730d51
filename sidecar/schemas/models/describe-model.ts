import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { parseJson, withDoubles, writeJson } from '../../shared/json/lossless-json.js';
import type { Refused, TaskRefusal } from '../../shared/task-answer.js';
import { namesInSchema } from '../json-ld/generated-context.js';
import { attributesOf, type ModelAttribute } from '../json-schema/attributes.js';
import { type SchemaRefusal, SchemaRefusedError } from '../json-schema/errors.js';
import { Facts } from '../json-schema/facts.js';
import type { LinkedSchema } from '../json-schema/linker.js';
import { resolveWith } from '../json-schema/references.js';

/** A model's schema and the documents that it refers to, as texts of JSON. */
export interface ModelSource {
  readonly schema: string;
  readonly documents: readonly (readonly [uri: string, text: string])[];
}

/** What other documents of a model version are made from. */
export interface ModelDescription {
  /** Text of the self-contained schema. */
  readonly bundled: string;
  readonly attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[];
  /** Names of attributes, and of the members of their values at any depth. */
  readonly names: readonly string[];
  /** The only values that the entity's `type` can have, where the schema lists them. */
  readonly types: readonly JsonValue[] | undefined;
}

/** A schema with the documents that it refers to. @throws SchemaRefusedError, RangeError */
export function linkedOf(schema: JsonObject, documents: ModelSource['documents']): LinkedSchema {
  const parsed = new Map(documents.map(([uri, text]) => [uri, parseJson(text) as JsonValue]));
  return resolveWith(schema, parsed);
}

/** The result of work on a schema, or why the schema is refused. */
export function orRefusal<Result>(work: () => Result): Result | Refused<SchemaRefusal> {
  try {
    return work();
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}

function refusalOf(error: unknown): TaskRefusal<SchemaRefusal> {
  if (error instanceof SchemaRefusedError) {
    const { kind, message, errors } = error;
    return { kind, detail: message, errors };
  }
  if (!(error instanceof RangeError)) throw error;
  const detail = 'schemas are nested, or refer to each other, too deeply';
  return {
    kind: 'schemaTooLarge',
    detail: `The schema is too large: ${detail}.`,
    errors: [{ pointer: '', detail }],
  };
}

/** @param bundled the self-contained schema */
export function descriptionOf(bundled: JsonObject): ModelDescription {
  const { root, targets, attributes } = attributesOf(bundled);
  const type = new Facts([root], targets).property('type');
  return {
    bundled: writeJson(bundled),
    attributes: attributes.map(({ name, kind }) => ({ name, kind })),
    names: namesInSchema(bundled),
    types: new Facts(type, targets).values?.map(withDoubles),
  };
}
