import { subschemaPosition, type Position } from './document.js';
import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  type Schema,
} from '../../shared/json/json.js';
import {
  holdsNamedSchemas,
  holdsSchemas,
  identifierKeyword,
  isBefore2019,
  isDefinitions,
  isEffective,
} from './keywords.js';
import { REFERENCE_KEYWORDS, type ReferenceKeyword } from './linker.js';

/** A keyword and its value. */
export type Entry = readonly [keyword: string, value: JsonValue];

/** Keywords that identify a schema and do not restrict the data. */
const IDENTITY: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
]);

/** The choices in writing a schema in draft 2020-12. */
export interface Style {
  /** The replacement for a reference. */
  reference(from: Position, keyword: ReferenceKeyword): Entry | undefined;
  /** Whether a keyword without schemas is written. */
  keeps(keyword: string, value: JsonValue): boolean;
  /** Whether it matters to a keyword in use which items of an array are evaluated. */
  readonly tracksItems: boolean;
  /** The replacement for an inner schema. */
  inner(position: Position): Schema;
  /** Called at the end for a schema that replaces a part of another one. */
  readonly finish?: (schema: JsonObject) => Schema;
}

/**
 * Writes a schema of any supported draft in draft 2020-12, so that the same documents are valid. The keywords that
 * identify a schema and those that hold definitions are left out.
 */
export function render(position: Position, style: Style): Schema {
  const { schema, dialect } = position;
  return isObject(schema)
    ? objectOf(
        withSingleRef(
          withoutEvaluating(
            position,
            style,
            Object.entries(schema)
              .filter(([keyword]) => isEffective(keyword, schema, dialect))
              .flatMap(([keyword, value]) => keywordEntries(position, schema, keyword, value, style)),
          ),
        ),
      )
    : schema;
}

/** The name in draft 2020-12 of a keyword that holds schemas. @param isList whether it holds a list of them */
function newName({ dialect }: Position, keyword: string, isList: boolean): string {
  if (dialect === '2020-12') return keyword;
  if (keyword === 'items' && isList) return 'prefixItems';
  return keyword === 'additionalItems' ? 'items' : keyword;
}

/** Whether `contains` must not evaluate items, because it does not in draft 2019-09. */
function hidesContains({ schema, dialect }: Position, tracksItems: boolean): boolean {
  return tracksItems && dialect === '2019-09' && isObject(schema) && Object.hasOwn(schema, 'contains');
}

const CONTAINS: ReadonlySet<string> = new Set(['contains', 'minContains', 'maxContains']);

/** Moves `contains` of draft 2019-09 into a double `not`: it has the same effect there but evaluates nothing. */
function withoutEvaluating(position: Position, style: Style, entries: readonly Entry[]): readonly Entry[] {
  if (!hidesContains(position, style.tracksItems)) return entries;
  const part = objectOf(entries.filter(([keyword]) => CONTAINS.has(keyword)));
  const own = style.finish?.(part) ?? part;
  const others = entries.filter(([keyword]) => !CONTAINS.has(keyword) && keyword !== 'allOf');
  const allOf = entries.find(([keyword]) => keyword === 'allOf')?.[1];
  return [...others, ['allOf', [...(isArray(allOf) ? allOf : []), { not: { not: own } }]]];
}

function keywordEntries(
  position: Position,
  schema: JsonObject,
  keyword: string,
  value: JsonValue,
  style: Style,
): readonly Entry[] {
  const { dialect } = position;
  if (keyword === identifierKeyword(dialect) || IDENTITY.has(keyword) || isDefinitions(keyword)) return [];
  if (dialect === 'draft-04' && EXCLUSIVE.has(keyword)) return [];
  const reference = REFERENCE_KEYWORDS.find((name) => name === keyword);
  if (reference !== undefined) return some(style.reference(position, reference));
  if (!holdsSchemas(keyword, schema, dialect)) {
    const name = dialect === 'draft-04' ? boundOf(keyword, schema) : keyword;
    // An annotation that has no meaning in an older draft may have a value that 2020-12 does not allow.
    if (dialect !== '2020-12' && ANNOTATED.get(name)?.(value) === false) return [];
    return style.keeps(name, value) ? [[name, value]] : [];
  }
  if (keyword === 'dependencies') return dependencyEntries(position, value, style);
  const rendered = heldSchemas(position, keyword, value, style);
  const name = newName(position, keyword, isArray(value));
  // An empty list of items describes none and has no counterpart.
  return name !== keyword && isArray(rendered) && rendered.length === 0 ? [] : [[name, rendered]];
}

const isBoolean = (value: JsonValue): boolean => typeof value === 'boolean';
const isText = (value: JsonValue): boolean => typeof value === 'string';

/** What draft 2020-12 allows as values of annotations that older drafts do not have. */
const ANNOTATED: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map<
  string,
  (value: JsonValue) => boolean
>([
  ...['deprecated', 'readOnly', 'writeOnly'].map((keyword) => [keyword, isBoolean] as const),
  ...['$comment', 'contentMediaType', 'contentEncoding'].map((keyword) => [keyword, isText] as const),
  ['examples', isArray],
]);

const EXCLUSIVE: ReadonlySet<string> = new Set(['exclusiveMinimum', 'exclusiveMaximum']);

/**
 * The name of a bound in later drafts. In draft-04, a boolean keyword next to a bound says whether the bound is
 * exclusive; later drafts have separate keywords for exclusive bounds.
 */
function boundOf(keyword: string, schema: JsonObject): string {
  if (keyword === 'minimum' && member(schema, 'exclusiveMinimum') === true) return 'exclusiveMinimum';
  return keyword === 'maximum' && member(schema, 'exclusiveMaximum') === true ? 'exclusiveMaximum' : keyword;
}

/** The schemas of a keyword, each in its place. */
function heldSchemas(position: Position, keyword: string, value: JsonValue, style: Style): JsonValue {
  const write = (held: JsonValue, ...key: string[]): JsonValue =>
    isSchema(held) ? style.inner(subschemaPosition(position, [keyword, ...key], held)) : held;
  if (isArray(value)) return value.map((item, index) => write(item, String(index)));
  if (!isObject(value) || !holdsNamedSchemas(keyword)) return write(value);
  return objectOf(Object.entries(value).map(([key, held]) => [key, write(held, key)]));
}

/** Splits `dependencies`, which later drafts replaced by two keywords. */
function dependencyEntries(position: Position, value: JsonValue, style: Style): readonly Entry[] {
  const rendered = heldSchemas(position, 'dependencies', value, style);
  if (!isBefore2019(position.dialect) || !isObject(rendered)) return [['dependencies', rendered]];
  const all = Object.entries(rendered);
  const required = all.filter(([, held]) => !isSchema(held));
  const schemas = all.filter(([, held]) => isSchema(held));
  return [
    ...(required.length > 0 ? [['dependentRequired', objectOf(required)] as const] : []),
    ...(schemas.length > 0 ? [['dependentSchemas', objectOf(schemas)] as const] : []),
  ];
}

/** Another kind of reference may have become a second `$ref`; it is moved into `allOf`. */
function withSingleRef(entries: readonly Entry[]): readonly Entry[] {
  const [, ...more] = entries.filter(([keyword]) => keyword === '$ref');
  if (more.length === 0) return entries;
  const allOf = entries.find(([keyword]) => keyword === 'allOf')?.[1];
  const extra = more.map(([keyword, value]) => objectOf([[keyword, value]]));
  return [
    ...entries.filter((entry) => !more.includes(entry) && entry[0] !== 'allOf'),
    ['allOf', [...(isArray(allOf) ? allOf : []), ...extra]],
  ];
}

function some(entry: Entry | undefined): readonly Entry[] {
  return entry === undefined ? [] : [entry];
}
