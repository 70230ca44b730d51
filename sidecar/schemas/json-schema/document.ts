import {
  type Dialect,
  dialectOf,
  identifierKeyword,
  isBefore2019,
  ownMetaSchemaUri,
  refStandsAlone,
  subschemaAt,
  subschemasOf,
} from './keywords.js';
import { type IssueFactory, submittedIssue } from './errors.js';
import {
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  pointerOf,
  pointerTo,
  type Schema,
  childAt,
} from '../../shared/json/json.js';
import { ANONYMOUS, resolveUri } from './uri.js';
import { inSupportedDraft } from './vocabularies.js';

/** A schema document, and the URI that its references are resolved against. */
export interface SchemaDocument {
  readonly uri: string;
  readonly root: Schema;
  readonly dialect: Dialect;
  /**
   * For a document that the submitted schema refers to: the pointer to the first reference that led here, in that
   * schema.
   */
  readonly referredFrom?: string;
}

/** A schema in a document, with what depends on the schemas around it. */
export interface Position {
  readonly document: SchemaDocument;
  readonly tokens: readonly string[];
  /** Identifies it among the positions of all documents: the URI of its document, `#`, and a pointer. */
  readonly key: string;
  readonly schema: Schema;
  readonly dialect: Dialect;
  /** Absolute URI of the schema resource that it is part of. */
  readonly resource: string;
  /** Whether the resource begins at this schema. */
  readonly isResource: boolean;
  /** How many schemas contain it. */
  readonly depth: number;
  /** False below a keyword that is not known to hold schemas: there, only a `$ref` makes a value a schema. */
  readonly known: boolean;
}

/** The schemas of a document, and the names that are defined within it. */
export interface DocumentIndex {
  /** All schemas that the keywords of the document lead to, outer ones first. */
  readonly positions: readonly Position[];
  readonly resources: ReadonlyMap<string, Position>;
  /** Anchors by their {@link anchorKey}. */
  readonly anchors: ReadonlyMap<string, Position>;
  /** Schemas with a `$dynamicAnchor`, or a `$recursiveAnchor` of draft 2019-09. */
  readonly dynamicAnchors: readonly Position[];
  /** URIs of resources and keys of anchors that several schemas have. */
  readonly ambiguous: ReadonlySet<string>;
}

/** The name of a `$recursiveAnchor` in terms of draft 2020-12. */
export const RECURSIVE = 'recursive';

/**
 * The document of a submitted schema; its URI is its own `$id`.
 *
 * @param metaSchema the document at `ownMetaSchemaUri`, if the schema has one
 * @throws {SchemaRefusedError}
 */
export function submittedDocument(schema: JsonObject, metaSchema: JsonValue | undefined): SchemaDocument {
  const isOwn = ownMetaSchemaUri(schema) !== undefined;
  const root = isOwn ? inSupportedDraft(schema, metaSchema, submittedIssue) : schema;
  const dialect = dialectOf(root);
  const id = member(root, identifierKeyword(dialect));
  const uri = typeof id === 'string' ? resolveUri(id)?.uri : undefined;
  return { uri: uri ?? ANONYMOUS, root, dialect };
}

/**
 * The document at a URL; its own `$id` does not matter.
 *
 * @param at the URL, the pointer to the first reference to it, and the draft to assume if the document does not say
 * @param metaSchema as for {@link submittedDocument}
 * @throws {SchemaRefusedError}
 */
export function referencedDocument(
  schema: Schema,
  {
    uri,
    referredFrom,
    absent,
  }: { readonly uri: string; readonly referredFrom: string; readonly absent: Dialect },
  metaSchema: JsonValue | undefined,
): SchemaDocument {
  const document = { uri, root: schema, dialect: absent, referredFrom };
  if (!isObject(schema)) return document;
  const blame = issueFactoryOf(document);
  const isOwn = ownMetaSchemaUri(schema) !== undefined;
  const root = isOwn ? inSupportedDraft(schema, metaSchema, blame) : schema;
  return { ...document, root, dialect: dialectOf(root, absent, blame) };
}

/** Makes the issues of a document. Those of a referenced document are reported where the submitted schema refers to it. */
export function issueFactoryOf(
  { uri, referredFrom }: Pick<SchemaDocument, 'uri' | 'referredFrom'>,
  within: readonly string[] = [],
): IssueFactory {
  return (tokens, detail) => {
    const pointer = pointerOf([...within, ...tokens]);
    return referredFrom === undefined
      ? { pointer, detail }
      : { pointer: referredFrom, detail: `in ${uri}#${pointer}: ${detail}` };
  };
}

/** The position of the root of a document. */
export function rootOf(document: SchemaDocument): Position {
  const { uri, root, dialect } = document;
  return {
    document,
    tokens: [],
    key: `${uri}#`,
    schema: root,
    dialect,
    resource: uri,
    isResource: true,
    depth: 0,
    known: true,
  };
}

/** The key of an anchor: its name, made unique by the URI of its resource. */
export function anchorKey(resource: string, name: string): string {
  return `${resource}#${name}`;
}

/** The schemas directly within a schema, except for definitions if these do not count. */
export function subschemaPositions(position: Position, withDefinitions = true): readonly Position[] {
  if (!isObject(position.schema)) return [];
  return subschemasOf(position.schema, position.dialect)
    .filter(({ definition }) => withDefinitions || !definition)
    .map(({ tokens, schema }) => subschemaPosition(position, tokens, schema));
}

/** The schema that the tokens lead to from the root; undefined if there is none. */
export function positionAt(document: SchemaDocument, tokens: readonly string[]): Position | undefined {
  const position = [...pathTo(document, tokens)].at(-1) ?? rootOf(document);
  const rest = tokens.slice(position.tokens.length);
  return rest.length === 0 ? position : unknownPlace(position, rest);
}

/** The schemas on the way that the tokens lead, as far as keywords are known to hold them, without the root. */
export function* pathTo(document: SchemaDocument, tokens: readonly string[]): Iterable<Position> {
  let at = rootOf(document);
  while (at.tokens.length < tokens.length) {
    const rest = tokens.slice(at.tokens.length);
    const next = isObject(at.schema) ? subschemaAt(at.schema, at.dialect, rest) : undefined;
    if (next === undefined) return;
    at = subschemaPosition(at, next.tokens, next.schema);
    yield at;
  }
}

/** Finds all schemas that the keywords of a document lead to, and the names of these schemas. */
export function indexOf(document: SchemaDocument): DocumentIndex {
  const root = rootOf(document);
  const resources = new Map([[root.resource, root]]);
  const anchors = new Map<string, Position>();
  const dynamicAnchors: Position[] = [];
  const ambiguous = new Set<string>();
  const positions: Position[] = [];
  const claim = (names: Map<string, Position>, name: string, position: Position): void => {
    if (names.has(name)) ambiguous.add(name);
    else names.set(name, position);
  };
  const visit = (position: Position): void => {
    positions.push(position);
    for (const name of anchorsOf(position)) claim(anchors, anchorKey(position.resource, name), position);
    if (dynamicAnchorOf(position) !== undefined) dynamicAnchors.push(position);
    for (const next of subschemaPositions(position)) {
      if (next.isResource) claim(resources, next.resource, next);
      visit(next);
    }
  };
  visit(root);
  return { positions, resources, anchors, dynamicAnchors, ambiguous };
}

/** The name by which a `$dynamicRef` finds this schema. */
export function dynamicAnchorOf({ schema, dialect }: Position): string | undefined {
  if (!isObject(schema)) return undefined;
  if (dialect === '2019-09') return member(schema, '$recursiveAnchor') === true ? RECURSIVE : undefined;
  const name = dialect === '2020-12' ? member(schema, '$dynamicAnchor') : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** The schema's identifier as written, if its draft allows one here. */
function idOf(schema: Schema, dialect: Dialect): string | undefined {
  if (!isObject(schema) || refStandsAlone(schema, dialect)) return undefined;
  const id = member(schema, identifierKeyword(dialect));
  return typeof id === 'string' ? id : undefined;
}

const NO_NAMES: ReadonlySet<string> = new Set();

function anchorsOf({ schema, dialect }: Position): ReadonlySet<string> {
  if (!isObject(schema) || refStandsAlone(schema, dialect)) return NO_NAMES;
  // Before draft 2019-09, an anchor was written as an identifier that ends in a fragment.
  const id = isBefore2019(dialect) ? idOf(schema, dialect) : undefined;
  const fragment = id === undefined ? undefined : resolveUri(id)?.fragment;
  const dynamic = dialect === '2020-12' ? member(schema, '$dynamicAnchor') : undefined;
  const names = [fragment, member(schema, '$anchor'), dynamic].filter((name) => typeof name === 'string');
  return names.length === 0
    ? NO_NAMES
    : new Set(names.filter((name) => name !== '' && !name.startsWith('/')));
}

/** The position of a schema within another one, at the given tokens. */
export function subschemaPosition(outer: Position, tokens: readonly string[], schema: Schema): Position {
  const all = [...outer.tokens, ...tokens];
  const id = idOf(schema, outer.dialect);
  const resource = (id === undefined ? undefined : resolveUri(id, outer.resource)?.uri) ?? outer.resource;
  const isResource = resource !== outer.resource && isObject(schema);
  return {
    ...outer,
    tokens: all,
    key: pointerTo(outer.key, ...tokens),
    schema,
    resource,
    isResource,
    dialect: isResource
      ? dialectOf(schema, outer.dialect, issueFactoryOf(outer.document, all))
      : outer.dialect,
    depth: outer.depth + 1,
  };
}

/** A value that only a `$ref` makes a schema: below an unknown keyword, or next to a `$ref` of draft-07. */
function unknownPlace(from: Position, tokens: readonly string[]): Position | undefined {
  const value = tokens.reduce<JsonValue | undefined>(childAt, from.schema);
  return isSchema(value) ? { ...subschemaPosition(from, tokens, value), known: false } : undefined;
}
