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

/** Keywords without schemas that may be written in another way, even in a schema of draft 2020-12. */
export const MAYBE_REWRITTEN: ReadonlySet<string> = new Set([...IDENTITY, ...REFERENCE_KEYWORDS]);

/** The choices in writing a schema in draft 2020-12. */
export interface Style {
  /** The replacement for a keyword that identifies the schema. */
  identity(position: Position, keyword: string): Entry | undefined;
  /** The replacement for a reference. */
  reference(from: Position, keyword: ReferenceKeyword): Entry | undefined;
  /** Whether a keyword without schemas is written. */
  keeps(keyword: string, value: JsonValue, position: Position): boolean;
  /** Whether it matters to a keyword in use which items of an array are evaluated. */
  readonly tracksItems: boolean;
  /**
   * The replacement for an inner schema. If undefined, the schema is left out, or replaced by `true` if the others in
   * its list must keep their positions.
   */
  inner(position: Position, definition: boolean): Schema | undefined;
  /** Called at the end for a schema that replaces a part of another one. */
  readonly finish?: (schema: JsonObject) => Schema;
}

/**
 * Writes a schema of any supported draft in draft 2020-12, so that the same documents are valid. Returns the schema itself if
 * that changes nothing.
 */
export function render(position: Position, style: Style): Schema {
  const { schema, dialect } = position;
  if (!isObject(schema)) return schema;
  const own = Object.entries(schema);
  // Most schemas are of this kind.
  const isPlain = ([keyword, value]: Entry) =>
    !MAYBE_REWRITTEN.has(keyword) &&
    !holdsSchemas(keyword, schema, dialect) &&
    style.keeps(keyword, value, position);
  if (dialect === '2020-12' && own.every(isPlain)) return schema;
  const entries = withSingleRef(
    withoutEvaluating(
      position,
      style,
      own
        .filter(([keyword]) => isEffective(keyword, schema, dialect))
        .flatMap(([keyword, value]) => keywordEntries(position, schema, keyword, value, style)),
    ),
  );
  return isUnchanged(entries, own) ? schema : objectOf(entries);
}

function isUnchanged(entries: readonly Entry[], own: readonly Entry[]): boolean {
  const isSame = ([keyword, value]: Entry, index: number): boolean => {
    const [name, before] = own[index] ?? [];
    return keyword === name && value === before;
  };
  return entries.length === own.length && entries.every(isSame);
}

/** The path to an inner schema of a schema after that schema is rendered. */
export function renderedTokens(
  outer: Position,
  [keyword = '', ...key]: readonly string[],
  { tracksItems }: Pick<Style, 'tracksItems'>,
): readonly string[] {
  if (keyword === 'contains' && hidesContains(outer, tracksItems)) {
    const allOf = isObject(outer.schema) ? member(outer.schema, 'allOf') : undefined;
    return ['allOf', String(isArray(allOf) ? allOf.length : 0), 'not', 'not', 'contains'];
  }
  return newName(outer, [keyword, ...key]);
}

/** The tokens, with the name that the keyword has in draft 2020-12. */
function newName({ dialect }: Position, [keyword = '', ...key]: readonly string[]): readonly string[] {
  if (dialect !== '2020-12') {
    if (keyword === 'items' && key.length > 0) return ['prefixItems', ...key];
    if (keyword === 'additionalItems') return ['items'];
  }
  if (isBefore2019(dialect) && keyword === 'dependencies') return ['dependentSchemas', ...key];
  return [keyword, ...key];
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
  return withAllOf(
    entries.filter(([keyword]) => !CONTAINS.has(keyword)),
    [{ not: { not: own } }],
  );
}

/** The keywords with further schemas at the end of `allOf`. */
function withAllOf(entries: readonly Entry[], more: readonly Schema[]): readonly Entry[] {
  const allOf = entries.find(([keyword]) => keyword === 'allOf')?.[1];
  const others = entries.filter(([keyword]) => keyword !== 'allOf');
  return [...others, ['allOf', [...(isArray(allOf) ? allOf : []), ...more]]];
}

function keywordEntries(
  position: Position,
  schema: JsonObject,
  keyword: string,
  value: JsonValue,
  style: Style,
): readonly Entry[] {
  const { dialect } = position;
  if (keyword === identifierKeyword(dialect)) return some(style.identity(position, '$id'));
  if (IDENTITY.has(keyword)) return some(style.identity(position, keyword));
  if (dialect === 'draft-04' && EXCLUSIVE.has(keyword)) return [];
  const reference = REFERENCE_KEYWORDS.find((name) => name === keyword);
  if (reference !== undefined) return some(style.reference(position, reference));
  if (!holdsSchemas(keyword, schema, dialect)) {
    const name = dialect === 'draft-04' ? boundOf(keyword, schema) : keyword;
    // An annotation that has no meaning in an older draft may have a value that 2020-12 does not allow.
    if (dialect !== '2020-12' && ANNOTATED.get(name)?.(value) === false) return [];
    return style.keeps(name, value, position) ? [[name, value]] : [];
  }
  if (keyword === 'dependencies') return dependencyEntries(position, value, style);
  const rendered = heldSchemas(position, keyword, value, style);
  if (rendered === undefined) return [];
  const [name = keyword] = newName(position, isArray(value) ? [keyword, '0'] : [keyword]);
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

/** The schemas of a keyword, each in its place; undefined if none is written. */
function heldSchemas(
  position: Position,
  keyword: string,
  value: JsonValue,
  style: Style,
): JsonValue | undefined {
  const definition = isDefinitions(keyword);
  const write = (held: JsonValue, ...key: string[]): JsonValue | undefined =>
    isSchema(held)
      ? style.inner(subschemaPosition(position, [keyword, ...key], held), definition)
      : definition
        ? undefined
        : held;
  if (isArray(value)) {
    const items = value.map((item, index) => write(item, String(index)));
    if (items.length > 0 && items.every((item) => item === undefined)) return undefined;
    return items.every((item, index) => item === value[index]) ? value : items.map((item) => item ?? true);
  }
  if (!isObject(value) || !holdsNamedSchemas(keyword)) return write(value);
  const all = Object.entries(value);
  const written = all.flatMap(([key, held]): readonly Entry[] => {
    const one = write(held, key);
    return one === undefined ? [] : [[key, one]];
  });
  if (all.length > 0 && written.length === 0) return undefined;
  return isUnchanged(written, all) ? value : objectOf(written);
}

/** Splits `dependencies`, which later drafts replaced by two keywords. */
function dependencyEntries(position: Position, value: JsonValue, style: Style): readonly Entry[] {
  const rendered = heldSchemas(position, 'dependencies', value, style);
  if (rendered === undefined) return [];
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
  return withAllOf(
    entries.filter((entry) => !more.includes(entry)),
    more.map((entry) => objectOf([entry])),
  );
}

function some(entry: Entry | undefined): readonly Entry[] {
  return entry === undefined ? [] : [entry];
}
