import { Ajv } from 'ajv/dist/ajv.js';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { Dialect } from '../../../../sidecar/schemas/json-schema/keywords.js';
import type { LinkedSchema } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../../sidecar/schemas/json-schema/validator.js';
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

/** The verdict of Ajv's own class for a draft, on a schema and the documents to which it refers. */
export function verdictOf(
  dialect: AjvDialect,
  schema: JsonObject,
  documents: ReadonlyMap<string, JsonObject> = new Map(),
): Verdict {
  const ajv = {
    'draft-07': () => new Ajv(OPTIONS),
    '2019-09': () => new Ajv2019(OPTIONS),
    '2020-12': () => new Ajv2020(OPTIONS),
  }[dialect]();
  const read = (document: JsonObject) => readRightly(dialect === 'draft-07' ? refsAlone(document) : document);
  for (const [uri, document] of documents) ajv.addSchema(read(document), uri);
  const validate = ajv.compile<JsonValue>(read(schema));
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

/** Draft-07 ignores siblings of a `$ref` (section 8.3); Ajv does not. */
function refsAlone(schema: JsonObject): JsonObject;
function refsAlone(schema: JsonValue): JsonValue;
function refsAlone(schema: JsonValue): JsonValue {
  if (isArray(schema)) return schema.map(refsAlone);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([name]) => typeof schema['$ref'] !== 'string' || ['$ref', '$schema', 'definitions'].includes(name),
  );
  return Object.fromEntries(kept.map(([name, held]) => [name, refsAlone(held)]));
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
  const { prefixItems, items, additionalItems, allOf, ...others } = read;
  if (!isArray(prefixItems) && !isArray(items)) return read;
  const tuple = Object.entries({ prefixItems, items, additionalItems }).flatMap(([name, held]) =>
    held === undefined ? [] : [[name, held] as const],
  );
  return { ...others, allOf: [Object.fromEntries(tuple), ...(isArray(allOf) ? allOf : [])] };
}
