import { hash } from 'node:crypto';
import { isArray, isObject, isSchema, type JsonValue, member } from '../../shared/json/json.js';
import { SchemaRefusedError } from '../json-schema/errors.js';
import { dialectOf } from '../json-schema/keywords.js';
import { checkDocumentLimits, SCHEMA_LIMITS } from '../json-schema/limits.js';
import { documentUri, resolveUri } from '../json-schema/uri.js';
import { ownMetaSchemaUri } from '../json-schema/keywords.js';
import { RemoteDocumentError, type RemoteDocuments } from '../remote/remote-documents.js';
import {
  type Expected,
  type IfMatch,
  type ModelKey,
  type NewReference,
  type PinnedReference,
  type PutReference,
  type Reference,
  type SchemaStore,
} from '../../store/index.js';
import { allItems, undefinedIfNotFound, writeIfUnchanged } from './concurrency.js';
import { type ContentStore, MEDIA_TYPES, retryIfContentGone, type ServedDocument } from './content-store.js';
import { withSchemaErrors, ReferenceUriError } from './errors.js';

/**
 * Documents that schemas refer to. URIs are absolute (http, https, urn), without a fragment, and are normalized; all
 * methods throw ReferenceUriError for others.
 */
export class References {
  readonly #store: SchemaStore;
  readonly #contents: ContentStore;

  constructor(store: SchemaStore, contents: ContentStore) {
    this.#store = store;
    this.#contents = contents;
  }

  /** Returns a document. @throws NotFoundError */
  async get(uri: string): Promise<ServedDocument & { readonly reference: Reference }> {
    const normal = referenceUri(uri);
    return retryIfContentGone(async () => {
      const reference = await this.#store.references.get(normal);
      const served = await this.#contents.served(reference.content, MEDIA_TYPES.schema);
      return { ...served, etag: reference.etag, reference };
    });
  }

  /**
   * Returns the models whose current version was created with another state of the document, by domain and name.
   *
   * @throws NotFoundError
   */
  async outdatedModels(uri: string): Promise<readonly ModelKey[]> {
    const normal = referenceUri(uri);
    const { references, models } = this.#store;
    const { sha256 } = (await references.get(normal)).content;
    // A model may have used the file under another spelling before the document was stored under this one.
    const uris = new Set([normal, ...(await this.spellings(normal))]);
    const isOutdated = (pinned: PinnedReference) => uris.has(pinned.uri) && pinned.sha256 !== sha256;
    const keys: ModelKey[] = [];
    for (const one of uris)
      for await (const dependent of allItems((page) => references.dependents(one, page))) {
        if (dependent.kind !== 'model') continue;
        // The document may be used by an older version, but not by the current one.
        const at = await undefinedIfNotFound('model', models.get(dependent));
        if (at?.version.references.some(isOutdated) === true)
          keys.push({ domain: dependent.domain, name: dependent.name });
      }
    return keys;
  }

  /** Returns other URIs of the same file on a code host under which documents are stored. */
  async spellings(uri: string): Promise<readonly string[]> {
    return (await this.#store.references.uriVariants(referenceUri(uri))).map((spelling) => spelling.uri);
  }

  /**
   * Stores a document. Versions of models keep the one that they were created with.
   *
   * @param document pointers of errors lead into it
   * @param expected `absent` for `If-None-Match: *`, `present` for `If-Match: *`, or the ETags of `If-Match`
   * @throws SchemaRefusedError, PreconditionFailedError
   */
  async put(uri: string, document: JsonValue, expected?: Expected): Promise<PutReference> {
    const normal = referenceUri(uri);
    await withSchemaErrors('', async () => requireUsable(document));
    const reference = {
      uri: normal,
      source: 'stored',
      text: JSON.stringify(document),
      references: urisNamedIn(document, normal),
    } as const;
    return this.#store.references.put(reference, expected);
  }

  /** Deletes a document. @throws NotFoundError, PreconditionFailedError, InUseError */
  async delete(uri: string, ifMatch?: IfMatch): Promise<void> {
    await this.#store.references.delete(referenceUri(uri), ifMatch);
  }
}

/** Checks that schemas can refer to the document. Its parts are only checked when a schema refers to them. */
function requireUsable(document: JsonValue): void {
  if (!isSchema(document)) {
    const detail = 'must be a JSON object or a boolean';
    throw new SchemaRefusedError('schemaInvalid', `The document ${detail}.`, [{ pointer: '', detail }]);
  }
  checkDocumentLimits(document);
  if (isObject(document) && ownMetaSchemaUri(document) === undefined) dialectOf(document);
}

/** A document that was found, with its text. */
interface Found {
  /** The URI under which it is or will be stored; references may use another spelling. */
  readonly uri: string;
  readonly text: string;
  readonly sha256: string;
  /** For a stored document, the URIs of the documents that it names. */
  readonly named?: readonly string[];
  /** Set if the document was fetched and must be stored. */
  readonly fetched?: NewReference;
}

/** Documents that were found, by the URIs under which they are or will be stored. */
export interface FoundDocuments {
  /** SHA-256 of each. */
  readonly references: ReadonlyMap<string, string>;
  /** Those documents that were fetched and must be stored. */
  readonly fetched: readonly NewReference[];
}

/** The characters of documents after which no more are loaded before they are needed. */
const MAX_AHEAD_CHARACTERS = 8 * 1024 * 1024;

/** Finds the documents that one schema or context refers to, in the store or otherwise at allowed origins. */
export class ReferenceGathering {
  readonly #store: SchemaStore;
  readonly #remote: RemoteDocuments;
  /** By requested URI; undefined if the document is not available. */
  readonly #found = new Map<string, Found | undefined>();
  /** Why documents are not available, by URI. */
  readonly reasons = new Map<string, string>();

  constructor(store: SchemaStore, remote: RemoteDocuments) {
    this.#store = store;
    this.#remote = remote;
  }

  /** The texts of all documents that were looked for, by requested URI; undefined for those that are not available. */
  get texts(): ReadonlyMap<string, string | undefined> {
    return new Map([...this.#found].map(([uri, found]) => [uri, found?.text]));
  }

  /** Loads those of the documents that are stored. @param uris normalized */
  async loadStored(uris: readonly string[]): Promise<void> {
    if (uris.length === 0) return;
    for (const [uri, stored] of await this.#store.references.texts(uris)) this.#found.set(uri, stored);
  }

  /**
   * Loads the document at a normalized URI, even if it is stored under another spelling; undefined if it is not
   * available.
   */
  async load(uri: string): Promise<Found | undefined> {
    const found: Found | undefined =
      (await this.#store.references.texts([uri])).get(uri) ?? (await this.#fetch(uri));
    this.#found.set(uri, found);
    return found;
  }

  /**
   * Loads the documents that a schema needs next, and the stored ones that these name, directly or indirectly: the schema
   * mostly needs these after that. Which of them it refers to is found out later; see `found`.
   */
  async loadNext(uris: readonly string[]): Promise<void> {
    const loaded = await Promise.all(uris.map((uri) => this.load(uri)));
    const named = new Set(loaded.flatMap((found) => found?.named ?? []));
    let [looks, characters] = [0, 0];
    // Grows while it is gone through.
    for (const uri of named) {
      if (this.#found.has(uri)) continue;
      looks += 1;
      if (looks > SCHEMA_LIMITS.documents || characters > MAX_AHEAD_CHARACTERS) return;
      const stored = (await this.#store.references.texts([uri])).get(uri);
      if (stored === undefined) continue;
      this.#found.set(uri, stored);
      characters += stored.text.length;
      for (const next of stored.named) named.add(next);
    }
  }

  async #fetch(uri: string): Promise<Found | undefined> {
    if (!this.#remote.allows(uri)) {
      this.reasons.set(uri, await this.#whyMissing(uri));
      return undefined;
    }
    try {
      const document = (await this.#remote.fetch(uri)).document as JsonValue;
      const text = JSON.stringify(document);
      const references = urisNamedIn(document, uri);
      return {
        uri,
        text,
        sha256: hash('sha256', text),
        fetched: { uri, source: 'fetched', text, references },
      };
    } catch (error) {
      if (!(error instanceof RemoteDocumentError)) throw error;
      this.reasons.set(uri, error.message);
      return undefined;
    }
  }

  async #whyMissing(uri: string): Promise<string> {
    const [one, other] = await this.#store.references.uriVariants(uri);
    return one === undefined || other === undefined
      ? 'it is neither stored here nor from an allowed origin'
      : 'it is not stored here, and documents that differ are stored under ' +
          `other URLs of that file, such as ${one.uri} and ${other.uri}`;
  }

  /** Returns the documents that were found for some URIs, or for all that were looked for. @param uris as requested */
  found(uris: Iterable<string> = this.#found.keys()): FoundDocuments {
    const found = new Map<string, Found>();
    for (const uri of uris) {
      const one = this.#found.get(uri);
      if (one !== undefined) found.set(one.uri, one);
    }
    const all = [...found.values()];
    return {
      references: new Map(all.map(({ uri, sha256 }) => [uri, sha256])),
      fetched: all.flatMap(({ fetched }) => fetched ?? []),
    };
  }
}

/** Stores fetched documents. @throws ConcurrentUpdateError if one of them has been stored by others in the meantime */
export async function keepFetched(
  { references }: Pick<SchemaStore, 'references'>,
  fetched: readonly NewReference[],
): Promise<void> {
  for (const one of fetched) await writeIfUnchanged(() => references.put(one, 'absent'));
}

const MAX_URI_LENGTH = 2048;

/** Returns the normal form of a URI under which a document can be stored. @throws ReferenceUriError */
export function referenceUri(text: string): string {
  const uri = documentUri(text);
  if (uri === undefined || !/^(?:https?|urn):/.test(uri))
    throw new ReferenceUriError('must be an absolute http, https or urn URI');
  if (text.includes('#')) throw new ReferenceUriError('must not have a fragment');
  if (uri.length > MAX_URI_LENGTH)
    throw new ReferenceUriError(`must have at most ${MAX_URI_LENGTH} characters`);
  const { username, password } = new URL(uri);
  if (username !== '' || password !== '') throw new ReferenceUriError('must not contain credentials');
  return uri;
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/**
 * Returns the URIs of other documents that a document refers to anywhere, by `$ref` and similar keywords or by its
 * `$schema`.
 *
 * @param document of bounded depth
 * @param uri the base of its references, regardless of its own `$id`
 */
export function urisNamedIn(document: JsonValue, uri: string): ReadonlySet<string> {
  const metaSchema = ownMetaSchemaUri(document);
  const named = new Set(metaSchema === undefined ? [] : [metaSchema]);
  const own = new Set([uri]);
  const visit = (value: JsonValue, base: string): void => {
    if (isArray(value)) for (const item of value) visit(item, base);
    if (!isObject(value)) return;
    const id = value === document ? undefined : member(value, '$id');
    const inner = (typeof id === 'string' ? resolveUri(id, base)?.uri : undefined) ?? base;
    own.add(inner);
    for (const keyword of REFERENCES) {
      const reference = member(value, keyword);
      const target = typeof reference === 'string' ? resolveUri(reference, inner)?.uri : undefined;
      if (target !== undefined) named.add(target);
    }
    for (const item of Object.values(value)) visit(item, inner);
  };
  visit(document, uri);
  return new Set([...named].filter((target) => !own.has(target)));
}
