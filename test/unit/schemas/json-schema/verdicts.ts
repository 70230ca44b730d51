import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { Dialect } from '../../../../sidecar/schemas/json-schema/keywords.js';
import type { LinkedSchema } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../../../sidecar/shared/json/json.js';

const OPTIONS = {
  strict: false,
  ownProperties: true,
  allErrors: true,
  logger: false,
  formats: fullFormats,
  // Checked elsewhere, and most of the time it takes.
  validateSchema: false,
  meta: false,
} as const;

/** The drafts for which Ajv has a class. */
export const AJV_DIALECTS = ['draft-07', '2019-09', '2020-12'] as const satisfies readonly Dialect[];
export type AjvDialect = (typeof AJV_DIALECTS)[number];

/** Whether a document is valid; undefined if Ajv itself fails, as it does on some uses of unevaluatedProperties. */
export type Verdict = (document: JsonValue) => boolean | undefined;

/** The verdict of Ajv's own class for draft 2020-12, on a schema without references to other documents. */
export function verdictOf(schema: JsonObject): Verdict {
  const validate = new Ajv2020(OPTIONS).compile<JsonValue>(readRightly(schema));
  return (document) => {
    try {
      return validate(document);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  };
}

/** Whether the validator of a schema accepts a document. */
export function acceptedBy(linked: LinkedSchema): (document: JsonValue) => boolean {
  const validate = createValidator(linked);
  return (document) => validate(document).length === 0;
}

const metaSchema = new Ajv2020({ strict: false, logger: false });

/** Whether the meta-schema of draft 2020-12 accepts a schema. */
export function isValid2020(schema: JsonObject): boolean {
  return metaSchema.validateSchema(schema) === true;
}

/**
 * For Ajv, an empty list contains the items of a list before it: `contains` requires at least one item. And with descriptions of
 * the first items, Ajv does not check all items for other keywords, so these go into a schema of their own.
 */
function readRightly(schema: JsonObject): JsonObject;
function readRightly(schema: JsonValue): JsonValue;
function readRightly(schema: JsonValue): JsonValue {
  if (isArray(schema)) return schema.map(readRightly);
  if (!isObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, held]) => [name, readRightly(held)]));
  const { contains, minContains = 1, minItems = 0 } = inner;
  const isNeverEmpty = contains !== undefined && minContains !== 0;
  const read = isNeverEmpty ? { ...inner, minItems: Math.max(1, Number(minItems)) } : inner;
  if (contains === undefined && read['uniqueItems'] === undefined) return read;
  const { prefixItems, items, allOf, ...others } = read;
  if (!isArray(prefixItems)) return read;
  const tuple = { prefixItems, ...(items === undefined ? {} : { items }) };
  return { ...others, allOf: [tuple, ...(isArray(allOf) ? allOf : [])] };
}
