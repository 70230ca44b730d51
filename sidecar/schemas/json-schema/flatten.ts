import { isObject, type JsonObject, type JsonValue, objectOf, type Schema } from '../../shared/json/json.js';
import { blameIn, keyOf, rootOf, type Position } from './document.js';
import { SchemaRefusedError } from './errors.js';
import { ANNOTATIONS, ASSERTIONS } from './keywords.js';
import { SCHEMA_LIMITS } from './limits.js';
import type { LinkedSchema, ReferenceKeyword } from './linker.js';
import { render, type Entry, type Style } from './render.js';

/** The schemas that the references of a flat schema lead to, by what the references say. */
export type Targets = ReadonlyMap<string, Schema>;

/** A schema of draft 2020-12 without identifiers: a root, and the schemas that references name. */
export interface FlatSchema {
  readonly root: JsonObject;
  readonly definitions: ReadonlyMap<string, Schema>;
  readonly targets: Targets;
  /** Where the flat schema's schemas come from. */
  readonly sources: ReadonlyMap<JsonObject, Position>;
}

export interface FlatOptions {
  /** What a `$ref` says for a definition, or for the root; by default as {@link selfContained} needs it. */
  readonly reference?: (name: string | undefined) => string;
  /** Names that no definition may have. */
  readonly reserved?: ReadonlySet<string>;
  /** Which keywords that hold no schema are written; by default those of draft 2020-12. */
  readonly keeps?: (keyword: string, value: JsonValue) => boolean;
  /** The last word on each schema. */
  readonly finish?: (schema: JsonObject) => JsonObject;
}

/** Definitions within definitions are written for each, and so are those that dynamic references multiply. */
const MAX_RENDERED = 5 * SCHEMA_LIMITS.subschemas;

/** What dynamic references mean on some way through the schema: a schema for each name. */
type Scope = ReadonlyMap<string, Position>;

/**
 * The schema with every reference to a definition by a short name, and none of the keywords that name things.
 *
 * A definition that dynamic references give several meanings stands once for each, so that all references are static.
 * Names have the characters that OpenAPI takes for components: `A-Z a-z 0-9 . _ -`.
 *
 * @throws {SchemaRefusedError} when that makes too much of it
 */
export function flatten(linked: LinkedSchema, options: FlatOptions = {}): FlatSchema {
  return new Flattener(linked, options).flatten();
}

/** Whether a keyword is one of draft 2020-12. */
export function isStandard(keyword: string): boolean {
  return ASSERTIONS.has(keyword) || ANNOTATIONS.has(keyword);
}

/** The flat schema as one document, its definitions in `$defs`. */
export function selfContained({ root, definitions }: FlatSchema): JsonObject {
  return definitions.size === 0
    ? root
    : objectOf([...Object.entries(root), ['$defs', objectOf(definitions)]]);
}

class Flattener {
  readonly #linked: LinkedSchema;
  readonly #reference: (name: string | undefined) => string;
  readonly #keeps: (keyword: string, value: JsonValue) => boolean;
  readonly #finish: (schema: JsonObject) => JsonObject;
  readonly #names = new Map<string, string | undefined>();
  readonly #taken: Set<string>;
  readonly #open: { readonly name: string; readonly position: Position; readonly scope: Scope }[] = [];
  readonly #sources = new Map<JsonObject, Position>();
  #rendered = 0;

  constructor(linked: LinkedSchema, { reference, reserved, keeps, finish }: FlatOptions) {
    this.#linked = linked;
    this.#reference = reference ?? ((name) => (name === undefined ? '#' : `#/$defs/${name}`));
    this.#keeps = keeps ?? isStandard;
    this.#finish = finish ?? ((schema) => schema);
    this.#taken = new Set(reserved);
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
    const style: Style = {
      identity: () => undefined,
      reference: (from, keyword) => this.#refer(from, keyword, scope),
      keeps: this.#keeps,
      tracksItems: this.#linked.tracksItems,
      inner: (next, definition) => (definition ? undefined : this.#render(next, this.#within(next, scope))),
      finish: this.#finish,
    };
    const rendered = render(position, style);
    if (!isObject(rendered)) return rendered;
    const finished = this.#finish(rendered);
    this.#sources.set(finished, position);
    return finished;
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
    const name = this.#freeName(wordFor(position));
    this.#names.set(key, name);
    this.#open.push({ name, position, scope });
    return name;
  }

  #freeName(word: string): string {
    let name = word;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${word}-${count}`;
    this.#taken.add(name);
    return name;
  }

  /** Coming into a resource binds its dynamic anchors, unless one met before has the name (core, section 8.2.3.2). */
  #within({ document, resource }: Position, scope: Scope): Scope {
    const found = [...this.#linked.dynamicAnchors].flatMap(([name, positions]) => {
      const own = positions.find((anchor) => anchor.document === document && anchor.resource === resource);
      return own === undefined || scope.has(name) ? [] : [[name, own] as const];
    });
    return found.length === 0 ? scope : new Map([...scope, ...found]);
  }
}

function tooManyCopies({ document, tokens }: Position): SchemaRefusedError {
  const detail = 'references into each other multiply the schema too often';
  return new SchemaRefusedError('schemaTooLarge', `The schema is too large: ${detail}.`, [
    blameIn(document, tokens)([], detail),
  ]);
}

function scopedKey(position: Position, scope: Scope): string {
  return [keyOf(position), ...[...scope].map(([name, bound]) => `${name}=${keyOf(bound)}`).sort()].join(' ');
}

/** The last word of the way to the schema, or of the document's URL. */
function wordFor({ document, tokens }: Position): string {
  const word =
    tokens.at(-1) ??
    document.uri
      .replace(/\/+$/, '')
      .split('/')
      .at(-1)
      ?.replace(/\.json$/, '') ??
    '';
  return word.replaceAll(/[^A-Za-z0-9._-]+/g, '_').replace(/^$/, '_');
}
