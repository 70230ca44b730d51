import { LRUCache } from 'lru-cache';
import { ANNOTATIONS, DIALECT_URIS, identifierKeyword } from './keywords.js';
import { issueFactoryOf, pathTo, rootOf, type Position, type SchemaDocument } from './document.js';
import { SchemaRefusedError } from './errors.js';
import {
  fragmentOf,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  pointerOf,
  type Schema,
} from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { LinkedSchema, ReferenceKeyword } from './linker.js';
import { MAYBE_REWRITTEN, render, renderedTokens, type Entry, type Style } from './render.js';
import { isAbsolute, writtenUri } from './uri.js';

/** Where a schema is found in the bundle: the resource that it is part of, and the path within the resource. */
interface BundleLocation {
  readonly resource: string;
  readonly tokens: readonly string[];
}

/**
 * Turns a schema into one self-contained document of draft 2020-12: a compound document (section 9.3 of its core), in
 * which `$defs` holds every referenced document under its URL, with that URL as `$id`.
 *
 * The schema and the documents are converted from older drafts, so that the same instances are valid. Definitions of
 * other documents that nothing refers to are left out. References become JSON pointers. A nested `$id` is dropped if
 * another part of the bundle already has the same one. A schema that this would not change is returned itself.
 *
 * @throws {SchemaRefusedError} for dynamic references that one document cannot express
 */
export function bundle(linked: LinkedSchema): JsonObject {
  const { root } = linked.main;
  return isObject(root) && isBundle(root, linked) ? root : new Bundler(linked).bundle();
}

/** Whether a schema is written as a bundle would be: in draft 2020-12, without references and identifiers. */
function isBundle(root: JsonObject, { positions }: LinkedSchema): boolean {
  const [[first, uri] = []] = Object.entries(root);
  if (first !== '$schema' || uri !== DIALECT_URIS['2020-12']) return false;
  for (const { schema } of positions.values())
    for (const keyword of isObject(schema) ? Object.keys(schema) : [])
      if (MAYBE_REWRITTEN.has(keyword) && !(keyword === '$schema' && schema === root)) return false;
  return true;
}

/** Maximum number of characters in all cached documents; each takes about twenty times as much memory. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * The schemas, bundles and documents that this worker used last, by URI and text. What is made of a schema is cached by
 * the object, so all tasks on a version of a model take the same one.
 */
const documents = new LRUCache<string, Exclude<JsonValue, null>>({
  maxSize: MAX_CHARACTERS,
  sizeCalculation: (_, key) => key.length,
});

/**
 * Returns the document with this text.
 *
 * @param uri of the document: those at two URIs have no object in common, because each object has one position
 */
export function parsedDocument(text: string, uri = ''): JsonValue {
  const key = `${uri} ${text}`;
  const known = documents.get(key);
  if (known !== undefined) return known;
  const parsed = parseJson(text) as JsonValue;
  if (parsed !== null) documents.set(key, parsed);
  return parsed;
}

/** Returns the schema with this text. */
export function parsedSchema(text: string): JsonObject {
  return parsedDocument(text) as JsonObject;
}

/** Caches a schema. */
export function keepSchema(text: string, schema: JsonObject): void {
  documents.set(` ${text}`, schema);
}

class Bundler implements Style {
  readonly #linked: LinkedSchema;
  /** The key of the one schema that each URI stands for in the bundle. */
  readonly #owners = new Map<string, string>();
  /** The keys of all schemas in use, and of everything that contains one. */
  readonly #usedPaths = new Set<string>();

  constructor(linked: LinkedSchema) {
    this.#linked = linked;
    const roots = [linked.main, ...linked.documents.values()].map(rootOf);
    const nested = [...linked.positions.values()].filter(({ isResource, known }) => isResource && known);
    for (const position of [...roots, ...nested])
      if (!this.#owners.has(position.resource)) this.#owners.set(position.resource, position.key);
    for (const position of linked.positions.values()) {
      // What a dynamic reference means depends on the enclosing resources.
      if (linked.dynamicAnchors.size > 0) this.#claimAround(position);
      this.#usePath(position);
    }
  }

  /**
   * Registers the URIs of the resources that contain a schema in use, although the resources themselves may not be in
   * use.
   */
  #claimAround({ document, tokens, known }: Position): void {
    if (!known) return;
    for (const at of pathTo(document, tokens))
      if (at.isResource && !this.#owners.has(at.resource)) this.#owners.set(at.resource, at.key);
  }

  bundle(): JsonObject {
    const { main, documents } = this.#linked;
    const embedded = [...documents.values()].map(
      (document) => [freeName(main.root, document.uri), this.#embed(document)] as const,
    );
    return objectOf([
      ['$schema', DIALECT_URIS['2020-12']],
      ...this.#entries(main, embedded).filter(([keyword]) => keyword !== '$schema'),
    ]);
  }

  #embed(document: SchemaDocument): JsonObject {
    return objectOf([['$id', document.uri], ...this.#entries(document, [])]);
  }

  /** The keywords of a document. Definitions without a place elsewhere are added to its `$defs`. */
  #entries(document: SchemaDocument, embedded: readonly Entry[]): readonly Entry[] {
    const rendered = this.inner(rootOf(document));
    // A document that is `false` has no place for its URI.
    const entries: readonly Entry[] = isObject(rendered)
      ? Object.entries(rendered)
      : rendered === false
        ? [['not', {}]]
        : [];
    const displaced = this.#linked.displaced
      .filter((position) => position.document === document)
      .map((position) => [displacedName(position), render(position, this)] as const);
    if (displaced.length + embedded.length === 0) return entries;
    const defs = entries.find(([keyword]) => keyword === '$defs')?.[1];
    const all = [...(isObject(defs) ? Object.entries(defs) : []), ...displaced, ...embedded];
    return [...entries.filter(([keyword]) => keyword !== '$defs'), ['$defs', objectOf(all)]];
  }

  inner(position: Position): Schema | undefined {
    const { key } = position;
    if (this.#linked.positions.has(key)) return render(position, this);
    return this.#usedPaths.has(key) || position.tokens.length === 0 ? this.#skeleton(position) : undefined;
  }

  keeps(): boolean {
    return true;
  }

  get tracksItems(): boolean {
    return this.#linked.tracksItems;
  }

  identity(position: Position, keyword: string): Entry | undefined {
    switch (keyword) {
      case '$schema':
        return position.isResource ? ['$schema', DIALECT_URIS['2020-12']] : undefined;
      case '$id':
        return this.#id(position);
      case '$dynamicAnchor':
      case '$recursiveAnchor':
        return this.#dynamicAnchor(position);
      default:
        // References need no anchors, and on parts that lost their `$id`, anchors could collide.
        return undefined;
    }
  }

  reference(from: Position, keyword: ReferenceKeyword): Entry | undefined {
    const link = this.#linked.linkOf(from, keyword);
    if (link === undefined) return undefined;
    const [own, home] = [this.#locationOf(from), this.#locationOf(link.target)];
    const isNear = own.resource === home.resource;
    const uri = writtenUri(home.resource, own.resource);
    if (link.dynamic !== undefined && this.#linked.dynamicAnchors.has(link.dynamic)) {
      return ['$dynamicRef', `${isNear ? '' : uri}#${link.dynamic}`];
    }
    const fragment = fragmentOf(home.tokens);
    const absolute = fragment === '' ? uri : `${uri}#${fragment}`;
    const isWritten = isObject(from.schema) && member(from.schema, keyword) === absolute;
    return ['$ref', isNear && !isWritten ? `#${fragment}` : absolute];
  }

  #id(position: Position): Entry | undefined {
    const { document, tokens, schema, resource, dialect } = position;
    if (tokens.length > 0)
      return this.#keepsId(position) ? ['$id', writtenUri(resource, this.#baseOf(position))] : undefined;
    const id =
      document === this.#linked.main && isObject(schema)
        ? member(schema, identifierKeyword(dialect))
        : undefined;
    if (typeof id !== 'string') return undefined;
    const isKept = isAbsolute(resource) || this.#linked.dynamicAnchors.size > 0;
    const uri = isKept ? writtenUri(resource) : id.replace(/#.*$/s, '');
    return uri === '' ? undefined : ['$id', uri];
  }

  /**
   * Whether a schema keeps its `$id`. The root of a document is known by its URL. A nested schema keeps an `$id` that
   * no other has; a relative one only if the meaning of dynamic references depends on it.
   */
  #keepsId(position: Position): boolean {
    const { tokens, resource, isResource, known } = position;
    if (tokens.length === 0) return true;
    const isKept = isAbsolute(resource) || this.#linked.dynamicAnchors.size > 0;
    return isResource && known && isKept && this.#owners.get(resource) === position.key;
  }

  #dynamicAnchor(position: Position): Entry | undefined {
    for (const [name, positions] of this.#linked.dynamicAnchors) {
      if (!positions.some((anchored) => anchored.key === position.key)) continue;
      if (this.#locationOf(position).resource === position.resource) return ['$dynamicAnchor', name];
      throw notConvertible(position, '$id', 'a resource with dynamic anchors whose $id is not unique');
    }
    return undefined;
  }

  #locationOf({ document, tokens, known }: Position): BundleLocation {
    let home: BundleLocation = { resource: document.uri, tokens: [] };
    if (!known) return { ...home, tokens: ['$defs', displacedName({ document, tokens })] };
    let outer = rootOf(document);
    for (const at of pathTo(document, tokens)) {
      const inner = at.tokens.slice(outer.tokens.length);
      home = { ...home, tokens: [...home.tokens, ...renderedTokens(outer, inner, this)] };
      if (this.#keepsId(at)) home = { resource: at.resource, tokens: [] };
      outer = at;
    }
    return home;
  }

  /** The URI that the `$id` of a nested schema is resolved against in the bundle. */
  #baseOf({ document, tokens }: Position): string {
    const around = [...pathTo(document, tokens)].slice(0, -1);
    return around.findLast((at) => this.#keepsId(at))?.resource ?? document.uri;
  }

  #usePath({ key, document }: Position): void {
    const { key: root } = rootOf(document);
    for (let path = key; !this.#usedPaths.has(path); path = path.slice(0, path.lastIndexOf('/'))) {
      this.#usedPaths.add(path);
      if (path === root) return;
    }
  }

  /**
   * What remains of a schema that is not in use: the parts that lead to schemas in use, and for a document also its
   * annotations.
   */
  #skeleton(position: Position): Schema {
    const isRoot = position.tokens.length === 0;
    return render(position, {
      identity: (at, keyword) => (keyword === '$id' && at.tokens.length > 0 ? this.#id(at) : undefined),
      reference: () => undefined,
      keeps: (keyword) => isRoot || ANNOTATIONS.has(keyword),
      tracksItems: this.tracksItems,
      inner: (next) => this.inner(next),
    });
  }
}

function displacedName({ document, tokens }: Pick<Position, 'document' | 'tokens'>): string {
  return freeName(document.root, pointerOf(tokens));
}

/** A name that the document's own `$defs` do not use. */
function freeName(root: Schema, name: string): string {
  const defs = isObject(root) ? member(root, '$defs') : undefined;
  return isObject(defs) && Object.hasOwn(defs, name) ? freeName(root, `${name}'`) : name;
}

function notConvertible({ document, tokens }: Position, keyword: string, what: string): SchemaRefusedError {
  const detail = `${what} has no counterpart in one document of draft 2020-12`;
  return new SchemaRefusedError('schemaNotConvertible', `The schema cannot be bundled: ${detail}.`, [
    issueFactoryOf(document, tokens)([keyword], detail),
  ]);
}
