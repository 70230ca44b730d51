import { createHash } from 'node:crypto';
import type { ModelAt, ModelKey, PinnedReference } from '../../store/records.js';
import type { SchemaStore } from '../../store/store.js';
import { WhileUnwritten } from './concurrency.js';
import { type Contents, MEDIA_TYPES, rereading } from './contents.js';
import { FileNotFoundError } from './errors.js';
import { lifecycleOf } from './lifecycles.js';
import { contentKey, type ModelDescriptions, type ModelDocuments } from './model-documents.js';
import type {
  ModelDocumentKind,
  ModelFile,
  ModelReadOptions,
  ModelSchema,
  ServedDocument,
} from './shapes.js';

/** The files that every model has; of a schema without an example, the examples are missing. */
const KINDS: ReadonlyMap<string, ModelDocumentKind> = new Map([
  ['schema.json', 'schema'],
  ['openapi.json', 'openapi'],
  ['context.jsonld', 'context'],
  ['example.jsonld', 'example'],
  ['example-normalized.jsonld', 'example-normalized'],
]);

/** The files of model versions: their documents, and the documents that their schemas refer to. */
export class ModelFiles {
  readonly #documents: ModelDocuments;
  readonly #contents: Contents;

  constructor(documents: ModelDocuments, contents: Contents) {
    this.#documents = documents;
    this.#contents = contents;
  }

  async list(at: ModelAt, options: ModelReadOptions): Promise<readonly ModelFile[]> {
    const own = await Promise.all([...KINDS].map(([name, kind]) => this.#entry(at, name, kind, options)));
    const others = at.version.references.map(({ uri, sha256, size }): ModelFile => ({
      name: referenceFileName(uri),
      mediaType: MEDIA_TYPES.schema,
      size,
      sha256,
      uri,
    }));
    return [...own.filter((file) => file !== undefined), ...others];
  }

  /** @throws FileNotFoundError */
  async get(at: ModelAt, name: string, options: ModelReadOptions): Promise<ServedDocument> {
    const kind = KINDS.get(name);
    if (kind !== undefined) return this.#documents.of(at, kind, options);
    const isNamed = ({ uri }: PinnedReference) => referenceFileName(uri) === name;
    const reference = at.version.references.find(isNamed);
    if (reference === undefined) throw new FileNotFoundError(name);
    return this.#contents.served(reference, MEDIA_TYPES.schema);
  }

  async #entry(
    at: ModelAt,
    name: string,
    kind: ModelDocumentKind,
    options: ModelReadOptions,
  ): Promise<ModelFile | undefined> {
    try {
      const { mediaType, bytes, sha256 } = await this.#documents.of(at, kind, options);
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

/** The schemas of model versions, to be compiled: asked for with every entity, so that each is looked up once only. */
export class ModelSchemas {
  readonly #store: SchemaStore;
  readonly #descriptions: ModelDescriptions;
  readonly #known: WhileUnwritten<ModelSchema>;

  constructor(store: SchemaStore, descriptions: ModelDescriptions) {
    this.#store = store;
    this.#descriptions = descriptions;
    this.#known = new WhileUnwritten(store);
  }

  /** @throws NotFoundError */
  async of(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    const name = JSON.stringify([key.domain, key.name, version]);
    return this.#known.get(name, () => this.#read(key, version));
  }

  async #read(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    const at = await this.#store.models.get(key, version);
    const contentHash = createHash('sha256').update(contentKey(at.version)).digest('hex');
    return {
      contentHash,
      lifecycle: lifecycleOf(at.model),
      text: () => rereading(async () => (await this.#descriptions.of(at.version)).bundled),
    };
  }
}
