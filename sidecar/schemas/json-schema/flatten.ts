import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  type Schema,
  stringsOf,
} from '../../shared/json/json.js';
import { issueFactoryOf, type Position, rootOf } from './document.js';
import { SchemaRefusedError } from './errors.js';
import { ANNOTATIONS, ASSERTIONS } from './keywords.js';
import { SCHEMA_LIMITS } from './limits.js';
import type { LinkedSchema, ReferenceKeyword } from './linker.js';
import { type Entry, render, type Style } from './render.js';

/** The schemas that the references of a flat schema lead to, by the text of the reference. */
export type ReferenceTargets = ReadonlyMap<string, Schema>;

/** A schema of draft 2020-12 without identifiers: a root, and the definitions that references name. */
export interface FlatSchema {
  readonly root: JsonObject;
  readonly definitions: ReadonlyMap<string, Schema>;
  readonly targets: ReferenceTargets;
  /** The position that each schema comes from. */
  readonly sources: ReadonlyMap<JsonObject, Position>;
}

/** The choices in flattening a schema. */
export interface FlatOptions {
  /** The text of a `$ref` to a definition, or to the root for undefined; by default what {@link toSelfContained} needs. */
  readonly reference?: (name: string | undefined) => string;
  /** Makes the name of a definition from a word; by default with {@link freeNames}. */
  readonly nameFor?: (word: string) => string;
  /** Which keywords without subschemas are kept; by default those of draft 2020-12. */
  readonly keeps?: (keyword: string, value: JsonValue) => boolean;
  /** Called at the end for each schema, and may replace it. */
  readonly finish?: (schema: JsonObject) => Schema;
}

/**
 * Maximum number of schemas written. A schema within a definition is written again if a reference leads to it, and
 * dynamic references multiply definitions.
 */
const MAX_RENDERED = 5 * SCHEMA_LIMITS.subschemas;

/** The dynamic scope at a place in the schema: what dynamic references mean there, by name. */
type Scope = ReadonlyMap<string, Position>;

/**
 * Rewrites a schema so that every reference names a definition by a short name, without the keywords that identify
 * schemas.
 *
 * A definition that dynamic references give several meanings is written once for each meaning, so that all references
 * are static. Names consist of the characters that OpenAPI allows for components: `A-Z a-z 0-9 . _ -`.
 *
 * @throws {SchemaRefusedError} when the result would be too large
 */
export function flatten(linked: LinkedSchema, options: FlatOptions = {}): FlatSchema {
  return new Flattener(linked, options).flatten();
}

/** Whether a keyword is one of draft 2020-12. */
export function isStandardKeyword(keyword: string): boolean {
  return ASSERTIONS.has(keyword) || ANNOTATIONS.has(keyword);
}

/** The flat schema as one document, with its definitions in `$defs`. */
export function toSelfContained({ root, definitions }: FlatSchema): JsonObject {
  return definitions.size === 0
    ? root
    : objectOf([...Object.entries(root), ['$defs', objectOf(definitions)]]);
}

class Flattener {
  readonly #linked: LinkedSchema;
  readonly #reference: (name: string | undefined) => string;
  readonly #keeps: (keyword: string, value: JsonValue) => boolean;
  readonly #finish: NonNullable<FlatOptions['finish']>;
  readonly #names = new Map<string, string | undefined>();
  readonly #nameFor: (word: string) => string;
  readonly #open: { readonly name: string; readonly position: Position; readonly scope: Scope }[] = [];
  readonly #sources = new Map<JsonObject, Position>();
  readonly #styles = new Map<Scope, Style>();
  #rendered = 0;

  constructor(linked: LinkedSchema, { reference, nameFor, keeps, finish }: FlatOptions) {
    this.#linked = linked;
    this.#reference = reference ?? ((name) => (name === undefined ? '#' : `#/$defs/${name}`));
    this.#keeps = keeps ?? isStandardKeyword;
    this.#finish = finish ?? ((schema) => schema);
    this.#nameFor = nameFor ?? freeNames();
  }

  flatten(): FlatSchema {
    const start = rootOf(this.#linked.main);
    const scope = this.#within(start, new Map());
    this.#names.set(scopedKey(start, scope), undefined);
    const root = this.#render(start, scope);
    const definitions = new Map<string, Schema>();
    for (let next = this.#open.shift(); next !== undefined; next = this.#open.shift())
      definitions.set(next.name, this.#render(next.position, next.scope));
    const named = [...definitions].map(([name, schema]) => [this.#reference(name), schema] as const);
    return {
      root: isObject(root) ? root : {},
      definitions,
      targets: new Map([[this.#reference(undefined), root], ...named]),
      sources: this.#sources,
    };
  }

  #render(position: Position, scope: Scope): Schema {
    this.#rendered += 1;
    if (this.#rendered > MAX_RENDERED) throw tooManyCopies(position);
    const rendered = render(position, this.#styleWithin(scope));
    if (!isObject(rendered)) return rendered;
    const finished = this.#finish(rendered);
    if (isObject(finished)) this.#sources.set(finished, position);
    return finished;
  }

  #styleWithin(scope: Scope): Style {
    const known = this.#styles.get(scope);
    if (known !== undefined) return known;
    const style: Style = {
      identity: () => undefined,
      reference: (from, keyword) => this.#refer(from, keyword, scope),
      keeps: this.#keeps,
      tracksItems: this.#linked.tracksItems,
      inner: (next, definition) => (definition ? undefined : this.#render(next, this.#within(next, scope))),
      finish: this.#finish,
    };
    this.#styles.set(scope, style);
    return style;
  }

  #refer(from: Position, keyword: ReferenceKeyword, scope: Scope): Entry | undefined {
    const link = this.#linked.linkOf(from, keyword);
    if (link === undefined) return undefined;
    const target = (link.dynamic === undefined ? undefined : scope.get(link.dynamic)) ?? link.target;
    return ['$ref', this.#reference(this.#name(target, this.#within(target, scope)))];
  }

  #name(position: Position, scope: Scope): string | undefined {
    const key = scopedKey(position, scope);
    if (this.#names.has(key)) return this.#names.get(key);
    const name = this.#nameFor(wordFor(position));
    this.#names.set(key, name);
    this.#open.push({ name, position, scope });
    return name;
  }

  /**
   * Entering a schema resource binds its dynamic anchors, except for names that are already bound (core, section
   * 8.2.3.2).
   */
  #within({ document, resource }: Position, scope: Scope): Scope {
    if (this.#linked.dynamicAnchors.size === 0) return scope;
    const found = [...this.#linked.dynamicAnchors].flatMap(([name, positions]) => {
      const own = positions.find((anchor) => anchor.document === document && anchor.resource === resource);
      return own === undefined || scope.has(name) ? [] : [[name, own] as const];
    });
    return found.length === 0 ? scope : new Map([...scope, ...found]);
  }
}

/**
 * Returns a function that makes names of words: of the characters that OpenAPI allows for components, and numbered if
 * the name is taken.
 */
export function freeNames(reserved: Iterable<string> = []): (word: string) => string {
  const taken = new Set(reserved);
  return (word) => {
    const plain = word.replaceAll(/[^A-Za-z0-9._-]+/g, '_');
    let name = plain;
    for (let count = 2; taken.has(name); count += 1) name = `${plain}-${count}`;
    taken.add(name);
    return name;
  };
}

function tooManyCopies({ document, tokens }: Position): SchemaRefusedError {
  const detail = 'its references expand to too many copies of its parts';
  return new SchemaRefusedError('schemaTooLarge', `The schema is too large: ${detail}.`, [
    issueFactoryOf(document, tokens)([], detail),
  ]);
}

function scopedKey(position: Position, scope: Scope): string {
  return [position.key, ...[...scope].map(([name, bound]) => `${name}=${bound.key}`).sort()].join(' ');
}

/**
 * A word to name a definition after: the last token of the path to the schema, or the last segment of the document's
 * URL.
 */
function wordFor({ document, tokens }: Position): string {
  const word =
    tokens.at(-1) ??
    document.uri
      .replace(/\/+$/, '')
      .split('/')
      .at(-1)
      ?.replace(/\.json$/, '') ??
    '';
  return word === '' ? '_' : word;
}

/**
 * All schemas that apply whenever the given ones do, each once: these themselves, and those that they include by
 * `$ref`, `allOf`, or an `anyOf` or `oneOf` with a single alternative.
 */
export function alwaysAppliedSchemas(
  schemas: Iterable<Schema>,
  targets: ReferenceTargets,
): readonly Schema[] {
  const found = new Set<Schema>();
  const open = [...schemas].reverse();
  const [only] = open;
  if (open.length === 1 && (!isObject(only) || !INCLUDING.some((keyword) => Object.hasOwn(only, keyword))))
    return open;
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (found.has(schema)) continue;
    found.add(schema);
    if (!isObject(schema)) continue;
    open.push(...[...onlyAlternativesIn(schema), ...schemasIn(schema, 'allOf')].reverse());
    const target = targetOf(schema, targets);
    if (target !== undefined) open.push(target);
  }
  return [...found];
}

/** Keywords by which a schema includes others. */
const INCLUDING = ['$ref', 'allOf', 'anyOf', 'oneOf'];

/** The schemas in `anyOf` or `oneOf` that are the only alternative, so that they always apply. */
function onlyAlternativesIn(schema: JsonObject): readonly Schema[] {
  return ['anyOf', 'oneOf']
    .map((keyword) => schemasIn(schema, keyword))
    .filter(({ length }) => length === 1)
    .flat();
}

/** The schema that the `$ref` of another leads to. */
export function targetOf(schema: JsonObject, targets: ReferenceTargets): Schema | undefined {
  const reference = member(schema, '$ref');
  return typeof reference === 'string' ? targets.get(reference) : undefined;
}

/** The subschemas that apply to the same value under some condition; those in `allOf` apply without one. */
export function alternativesIn(schema: JsonObject): readonly Schema[] {
  return [
    ...['anyOf', 'oneOf'].flatMap((keyword) => schemasIn(schema, keyword)),
    ...['not', 'if', 'then', 'else'].flatMap((keyword) => eachSchemaIn([schema], keyword)),
    ...['dependentSchemas', 'dependencies'].flatMap((keyword) => [
      ...namedSchemasIn(schema, keyword).values(),
    ]),
  ];
}

/**
 * The schema objects that apply to the same value as the given schemas, always or under some condition; each once.
 *
 * @param inner returns the subschemas of a schema that may apply to the same value
 */
export function atomsWithin(
  schemas: Iterable<Schema>,
  targets: ReferenceTargets,
  inner: (atom: JsonObject) => readonly Schema[] = alternativesIn,
): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  const open: Schema[] = [...schemas];
  // Grows while it is gone through.
  for (const next of open) {
    for (const atom of alwaysAppliedSchemas([next], targets).filter(isObject)) {
      if (found.has(atom)) continue;
      found.add(atom);
      open.push(...inner(atom));
    }
  }
  return [...found];
}

/** The schemas in a keyword that holds a list of them. */
export function schemasIn(schema: JsonObject, keyword: string): readonly Schema[] {
  const value = member(schema, keyword);
  return isArray(value) ? value.filter(isSchema) : [];
}

/** The schemas in a keyword that holds them by name. */
export function namedSchemasIn(schema: JsonObject, keyword: string): ReadonlyMap<string, Schema> {
  const value = member(schema, keyword);
  const found = new Map<string, Schema>();
  if (!isObject(value)) return found;
  for (const [name, held] of Object.entries(value)) if (isSchema(held)) found.set(name, held);
  return found;
}

/** The schema of a name in a keyword that holds schemas by name. */
export function namedSchemaIn(schema: JsonObject, keyword: string, name: string): Schema | undefined {
  const value = member(schema, keyword);
  return isObject(value) ? schemaIn(value, name) : undefined;
}

/** The schema in a keyword that holds one. */
export function schemaIn(schema: JsonObject, keyword: string): Schema | undefined {
  const value = member(schema, keyword);
  return isSchema(value) ? value : undefined;
}

/** The schemas in a keyword that holds one, for those of the schemas that have it. */
export function eachSchemaIn(schemas: readonly JsonObject[], keyword: string): readonly Schema[] {
  return schemas.map((schema) => schemaIn(schema, keyword)).filter((held) => held !== undefined);
}

/** The schemas that apply to a value because of the members that it has. */
export function dependentSchemasFor(schema: JsonObject, value: JsonValue): readonly Schema[] {
  if (!isObject(value)) return [];
  return ['dependentSchemas', 'dependencies'].flatMap((keyword) =>
    [...namedSchemasIn(schema, keyword)].flatMap(([name, own]) => (Object.hasOwn(value, name) ? [own] : [])),
  );
}

/** The lists of names in a keyword that maps names to them. */
export function namesByName(schema: JsonObject, keyword: string): ReadonlyMap<string, readonly string[]> {
  const value = member(schema, keyword);
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(
    entries.flatMap(([name, held]) => (isArray(held) ? [[name, stringsOf(held)] as const] : [])),
  );
}
