import { fileKey } from '../../shared/code-hosts.js';
import {
  type InputIssue,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
  tokensOf,
} from '../../shared/json/json.js';
import {
  anchorKey,
  issueFactoryOf,
  type DocumentIndex,
  dynamicAnchorOf,
  indexOf,
  positionAt,
  type Position,
  RECURSIVE,
  referencedDocument,
  rootOf,
  type SchemaDocument,
  submittedDocument,
  subschemaPositions,
} from './document.js';
import { SchemaRefusedError } from './errors.js';
import { isEffective, ownMetaSchemaUri } from './keywords.js';
import { checkDocumentLimits, checkSchemaLimits, SCHEMA_LIMITS } from './limits.js';
import { metaSchemaAt } from './vocabularies.js';
import { isAbsolute, type ResolvedUri, resolveUri } from './uri.js';

/** Finds a document by its absolute URI without fragment; undefined if there is none. */
export type FindDocument = (uri: string) => JsonValue | undefined;

/**
 * Resolves every reference of a schema, and of the documents it refers to.
 *
 * The submitted schema is checked as a whole. Of another document only the parts that references lead to are checked,
 * so a shared document may have broken parts that are never used. References in a document are resolved against the
 * URI under which it was requested; its own `$id` does not matter. An `$id` in the submitted schema takes precedence
 * over a document with the same URI. Cycles are allowed.
 *
 * @throws {SchemaRefusedError} naming every missing document, and every place that a document does not have
 */
export function resolveReferences(schema: JsonObject, find: FindDocument): LinkedSchema {
  return new Linker(schema, find).link();
}

/**
 * As {@link resolveReferences}, for a schema whose documents are all given. If there is no document with the requested URI,
 * a document with another spelling of the URI is used (see `fileKey`); all spellings have the same content.
 *
 * @throws {SchemaRefusedError}
 */
export function resolveReferencesIn(
  schema: JsonObject,
  documents: ReadonlyMap<string, JsonValue> = new Map(),
): LinkedSchema {
  const files = new Map([...documents].map(([uri, document]) => [fileKey(uri), document]));
  return resolveReferences(schema, (uri) => {
    const key = documents.has(uri) ? undefined : fileKey(uri);
    return key === undefined ? documents.get(uri) : files.get(key);
  });
}

/** The keywords that refer to other schemas. */
export const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const;
export type ReferenceKeyword = (typeof REFERENCE_KEYWORDS)[number];

/** The result of resolving a reference. */
interface Link {
  readonly target: Position;
  /**
   * The name of the dynamic anchor at the target, if the reference may lead to an anchor of that name in another
   * resource instead.
   */
  readonly dynamic?: string;
}

/** A schema with all its references resolved. */
export interface LinkedSchema {
  readonly main: SchemaDocument;
  /** The documents that are referred to, directly or indirectly, by URI; in the order in which they were found. */
  readonly documents: ReadonlyMap<string, SchemaDocument>;
  /** URIs of the documents that were needed to find out the draft of other documents. */
  readonly metaSchemas: ReadonlySet<string>;
  /**
   * Every schema in use, by its {@link keyOf}: all of the main document, and those of other documents that references
   * lead to.
   */
  readonly positions: ReadonlyMap<string, Position>;
  /**
   * The schemas in use that are not part of another one in use: the root, and the targets of references into other
   * places.
   */
  readonly entries: readonly Position[];
  /** Targets of references below keywords that are not known to hold schemas. */
  readonly displaced: readonly Position[];
  /** The schemas that a dynamic reference may lead to, by name, for names with more than one. */
  readonly dynamicAnchors: ReadonlyMap<string, readonly Position[]>;
  /** Whether a schema in use has `unevaluatedItems`, so that it matters which items are evaluated. */
  readonly tracksItems: boolean;
  /** Whether a schema in use refers to another one. */
  readonly hasReferences: boolean;
  /** Returns where the reference of a schema leads; undefined if the schema does not have the keyword. */
  readonly linkOf: (from: Position, keyword: ReferenceKeyword) => Link | undefined;
}

/** A reference in a schema in use. */
interface Reference extends ResolvedUri {
  readonly from: Position;
  readonly keyword: ReferenceKeyword;
  readonly text: string;
}

/** Resolves the references of a schema, document by document. */
class Linker {
  readonly #find: FindDocument;
  readonly #main: SchemaDocument;
  readonly #documents = new Map<string, SchemaDocument>();
  readonly #indexes = new Map<SchemaDocument, DocumentIndex>();
  readonly #positions = new Map<string, Position>();
  readonly #entries: Position[] = [];
  readonly #links = new Map<string, Link>();
  readonly #open: Position[] = [];
  /** References to documents that are read next, by URI. */
  readonly #waiting = new Map<string, Reference[]>();
  readonly #metaSchemas = new Set<string>();
  readonly #missing = new Map<string, InputIssue>();
  readonly #dangling: InputIssue[] = [];

  /** @throws {SchemaRefusedError} */
  constructor(schema: JsonObject, find: FindDocument) {
    this.#find = find;
    checkDocumentLimits(schema);
    this.#main = submittedDocument(schema, this.#metaSchemaOf(schema));
    this.#index(this.#main);
    this.#reach(rootOf(this.#main));
    this.#drain();
  }

  /** @throws {SchemaRefusedError} naming every reference that leads nowhere */
  link(): LinkedSchema {
    // Grows while it is gone through.
    for (const [uri, references] of this.#waiting) this.#read(uri, references);
    if (this.#missing.size > 0 || this.#dangling.length > 0) throw this.#refusal();
    const targets = new Map([...this.#links.values()].map(({ target }) => [target.key, target]));
    return {
      main: this.#main,
      documents: this.#documents,
      positions: this.#positions,
      entries: this.#entries,
      displaced: [...targets.values()].filter(({ known }) => !known),
      dynamicAnchors: this.#dynamicAnchors(),
      metaSchemas: this.#metaSchemas,
      tracksItems: [...this.#positions.values()].some(hasUnevaluatedItems),
      hasReferences: this.#links.size > 0,
      linkOf: (from, keyword) => this.#links.get(linkKey(from, keyword)),
    };
  }

  /**
   * Reads the document at a URI, and follows the references to it. Documents that are part of a draft need not exist
   * elsewhere.
   */
  #read(uri: string, references: readonly Reference[]): void {
    this.#waiting.delete(uri);
    const [first] = references;
    if (first === undefined) return;
    const schema = this.#find(uri) ?? metaSchemaAt(uri);
    const fault = this.#fault(
      first,
      schema === undefined ? `${uri} is missing` : `${uri} is neither a JSON object nor a boolean`,
    );
    if (!isSchema(schema)) {
      this.#missing.set(uri, fault);
      return;
    }
    const { pointer: referredFrom } = fault;
    checkDocumentLimits(schema, issueFactoryOf({ uri, referredFrom }));
    const absent = this.#main.dialect;
    const document = referencedDocument(schema, { uri, referredFrom, absent }, this.#metaSchemaOf(schema));
    this.#documents.set(uri, document);
    // A dynamic reference that is found later may lead to any of them.
    for (const anchored of this.#index(document).dynamicAnchors) this.#reach(anchored);
    for (const reference of references) this.#follow(reference);
    this.#drain();
  }

  #refusal(): SchemaRefusedError {
    const missing = [...this.#missing.keys()];
    const summary =
      missing.length === 0
        ? 'References of the schema lead nowhere.'
        : `Documents that the schema refers to are missing: ${missing.join(', ')}`;
    const errors = [...this.#missing.values(), ...this.#dangling];
    return new SchemaRefusedError('schemaReferenceDangling', summary, errors, missing);
  }

  /** Finds the document at `ownMetaSchemaUri`, if the schema has one. */
  #metaSchemaOf(schema: Schema): JsonValue | undefined {
    const uri = ownMetaSchemaUri(schema);
    if (uri === undefined) return undefined;
    this.#metaSchemas.add(uri);
    return this.#find(uri);
  }

  #dynamicAnchors(): ReadonlyMap<string, readonly Position[]> {
    const anchored = [...this.#indexes.values()].flatMap(({ dynamicAnchors }) => dynamicAnchors);
    const names = new Set([...this.#links.values()].map(({ dynamic }) => dynamic));
    return new Map(
      [...names]
        .filter((name) => name !== undefined)
        .map((name) => [name, anchored.filter((position) => dynamicAnchorOf(position) === name)] as const)
        .filter(([, positions]) => positions.length > 1),
    );
  }

  #index(document: SchemaDocument): DocumentIndex {
    const index = indexOf(document);
    this.#indexes.set(document, index);
    return index;
  }

  /** Marks a schema as in use. Uses a worklist rather than recursion, because chains of references may be long. */
  #reach(position: Position): void {
    if (this.#positions.has(position.key)) return;
    this.#entries.push(position);
    this.#open.push(position);
  }

  #drain(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#visit(next);
  }

  #visit(position: Position): void {
    // Of the submitted schema, everything is in use.
    if (position.document === this.#main && position.tokens.length === 0) {
      for (const each of this.#indexes.get(this.#main)?.positions ?? []) this.#use(each);
    } else if (this.#use(position)) {
      // A definition in another document is in use only if something refers to it.
      for (const next of subschemaPositions(position, position.document === this.#main)) this.#visit(next);
    }
  }

  /** Puts a schema to use, without those within it. @returns false if it already was in use */
  #use(position: Position): boolean {
    const { key } = position;
    if (this.#positions.has(key)) return false;
    this.#positions.set(key, position);
    const { document, tokens, schema, depth, dialect } = position;
    checkSchemaLimits(schema, depth, this.#positions.size, issueFactoryOf(document, tokens));
    if (!isObject(schema)) return true;
    for (const keyword of REFERENCE_KEYWORDS) {
      const text = member(schema, keyword);
      if (typeof text === 'string' && isEffective(keyword, schema, dialect))
        this.#refer(position, keyword, text);
    }
    return true;
  }

  #refer(from: Position, keyword: ReferenceKeyword, text: string): void {
    const resolved = resolveUri(text, from.resource);
    const reference = { from, keyword, text, uri: '', fragment: '', ...resolved };
    if (resolved === undefined) this.#dangling.push(this.#fault(reference, 'is not a URI reference'));
    else this.#follow(reference);
  }

  #follow(reference: Reference): void {
    const { from, keyword, uri, fragment } = reference;
    const resource = this.#resource(from.document, uri);
    if (resource === undefined) {
      this.#miss(reference);
      return;
    }
    const target = this.#target(resource, fragment);
    if (typeof target === 'string') {
      this.#dangling.push(this.#fault(reference, target));
      return;
    }
    const name = keyword === '$dynamicRef' ? fragment : RECURSIVE;
    const isDynamic = keyword !== '$ref' && dynamicAnchorOf(target) === name;
    this.#links.set(linkKey(from, keyword), isDynamic ? { target, dynamic: name } : { target });
    this.#reach(target);
  }

  /**
   * The resource of a URI: looked up among the names in the document itself, then in the submitted schema, then among
   * the documents.
   */
  #resource(from: SchemaDocument, uri: string): Position | undefined {
    for (const document of [from, this.#main]) {
      const found = this.#indexes.get(document)?.resources.get(uri);
      if (found !== undefined) return found;
    }
    const document = this.#documents.get(uri);
    return document === undefined ? undefined : rootOf(document);
  }

  #miss(reference: Reference): void {
    const { uri } = reference;
    if (!isAbsolute(uri)) {
      this.#dangling.push(this.#fault(reference, 'is relative, and no $id makes it absolute'));
    } else if (!this.#missing.has(uri)) {
      const waiting = this.#waiting.get(uri);
      if (waiting === undefined) this.#need(reference);
      else waiting.push(reference);
    }
  }

  #need(reference: Reference): void {
    this.#waiting.set(reference.uri, [reference]);
    if (this.#documents.size + this.#missing.size + this.#waiting.size <= SCHEMA_LIMITS.documents) return;
    const fault = this.#fault(reference, `one of more than ${SCHEMA_LIMITS.documents} documents referred to`);
    throw new SchemaRefusedError('schemaTooLarge', 'The schema refers to too many documents.', [fault]);
  }

  /** The schema that a fragment of a resource leads to, or what is wrong with the fragment. */
  #target(resource: Position, fragment: string): Position | string {
    const index = this.#indexes.get(resource.document);
    if (index?.ambiguous.has(resource.resource) === true) return 'is the $id of several schemas';
    const tokens = tokensOf(fragment);
    if (tokens !== undefined)
      return positionAt(resource.document, [...resource.tokens, ...tokens]) ?? 'leads to no schema';
    const key = anchorKey(resource.resource, fragment);
    if (index?.ambiguous.has(key) === true) return 'is an anchor of several schemas';
    return index?.anchors.get(key) ?? 'leads to no schema';
  }

  #fault({ from, keyword, text }: Reference, detail: string): InputIssue {
    const { document, tokens } = from;
    return issueFactoryOf(document, tokens)([keyword], `${keyword} ${text.slice(0, 500)}: ${detail}`);
  }
}

function hasUnevaluatedItems({ schema, dialect }: Position): boolean {
  return (
    isObject(schema) &&
    Object.hasOwn(schema, 'unevaluatedItems') &&
    isEffective('unevaluatedItems', schema, dialect)
  );
}

function linkKey(from: Position, keyword: ReferenceKeyword): string {
  return `${keyword} ${from.key}`;
}
