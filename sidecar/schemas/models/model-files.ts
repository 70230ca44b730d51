import { createHash } from 'node:crypto';
import type { ModelAt, ModelKey, PinnedReference, SchemaStore } from '../../store/index.js';
import { type Contents, MEDIA_TYPES, rereading, type ServedDocument } from './contents.js';
import { FileNotFoundError } from './errors.js';
import type { ModelDocumentKind, ModelDocuments, ModelReadOptions } from './model-documents.js';

export interface ModelFile {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  /** Of a document that the schema refers to: what its `$ref`s say. */
  readonly uri?: string;
}

/** The files of every model; examples are missing if none was found. */
const KINDS: ReadonlyMap<string, ModelDocumentKind> = new Map([
  ['schema.json', 'schema'],
  ['openapi.json', 'openapi'],
  ['context.jsonld', 'context'],
  ['example.jsonld', 'example'],
  ['example-normalized.jsonld', 'example-normalized'],
]);

/** The files of model versions: their documents, and the documents that their schemas refer to. */
export class ModelFiles {
  readonly #store: SchemaStore;
  readonly #documents: ModelDocuments;
  readonly #contents: Contents;

  constructor(store: SchemaStore, documents: ModelDocuments, contents: Contents) {
    this.#store = store;
    this.#documents = documents;
    this.#contents = contents;
  }

  /** All files of a model; documents that the schema refers to come last. @throws NotFoundError */
  list(key: ModelKey, options: ModelReadOptions): Promise<readonly ModelFile[]> {
    return rereading(async () => {
      const at = await this.#store.models.get(key, options.version);
      const own = await Promise.all([...KINDS].map(([name, kind]) => this.#entry(at, name, kind, options)));
      const others = at.version.references.map(({ uri, sha256, size }): ModelFile => ({
        name: referenceFileName(uri),
        mediaType: MEDIA_TYPES.schema,
        size,
        sha256,
        uri,
      }));
      return [...own.filter((file) => file !== undefined), ...others];
    });
  }

  /** @throws NotFoundError, FileNotFoundError */
  get(key: ModelKey, name: string, options: ModelReadOptions): Promise<ServedDocument> {
    return rereading(async () => {
      const at = await this.#store.models.get(key, options.version);
      const kind = KINDS.get(name);
      if (kind !== undefined) return this.#documents.ofVersion(at, kind, options);
      const isNamed = ({ uri }: PinnedReference) => referenceFileName(uri) === name;
      const reference = at.version.references.find(isNamed);
      if (reference === undefined) throw new FileNotFoundError(name);
      return this.#contents.served(reference, MEDIA_TYPES.schema);
    });
  }

  async #entry(
    at: ModelAt,
    name: string,
    kind: ModelDocumentKind,
    options: ModelReadOptions,
  ): Promise<ModelFile | undefined> {
    try {
      const { mediaType, bytes, sha256 } = await this.#documents.ofVersion(at, kind, options);
      return { name, mediaType, size: bytes.length, sha256 };
    } catch (error) {
      if (error instanceof FileNotFoundError) return undefined;
      throw error;
    }
  }
}

/**
 * The file name of a document that schemas refer to: the last word of its URI, and a hash that makes it unique.
 * It depends on nothing but the URI.
 */
export function referenceFileName(uri: string): string {
  const word = /([A-Za-z0-9_-]{1,64})(?:\.[A-Za-z0-9]+)?[^A-Za-z0-9_-]*$/.exec(uri)?.[1] ?? 'document';
  return `${word}-${createHash('sha256').update(uri).digest('hex').slice(0, 12)}.json`;
}
