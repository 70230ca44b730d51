import { hash } from 'node:crypto';
import type { JsonValue } from '../../shared/json/json.js';
import type { Examples, ModelAt, ModelKey, PinnedReference } from '../../store/index.js';
import { coreContextUrl } from '../json-ld/core-context.js';
import { entityTypes } from '../json-schema/attributes.js';
import { normalizedExample } from '../json-schema/example.js';
import {
  type Cache,
  type ContentStore,
  contextUrl,
  getOrCreate,
  MEDIA_TYPES,
  retryIfContentGone,
  toServedDocument,
  type ServedDocument,
} from './content-store.js';
import { isStrictExample } from './example-names.js';
import { FileNotFoundError } from './errors.js';
import type { CachedModels, Lifecycle } from './model-schemas.js';
import {
  contentKey,
  type FoundExample,
  type ModelDescriptions,
  type ModelExamples,
} from './model-descriptions.js';
import type { ServiceWorkers } from './model-tasks.js';

/**
 * The documents of a model:
 *
 * - `schema`: the JSON Schema as it was accepted; `bundled`: the same, self-contained, in draft 2020-12
 * - `openapi`: OpenAPI 3.1 of NGSI-LD for entities of the model
 * - `context`: the JSON-LD context that `Contexts.document` returns for the model's `contextName`
 * - `example`: an entity that satisfies the schema, in key-values form with `@context`
 * - `example-normalized`: the same entity in the form that brokers accept
 */
export type ModelDocumentKind =
  | 'schema'
  | 'bundled'
  | 'openapi'
  | 'context'
  | 'example'
  | 'example-normalized';

interface ModelReadOptions {
  /** The current version by default. Documents of a given version never change for the same `baseUrl`. */
  readonly version?: number | undefined;
  /** The URL under which clients and brokers reach this service, without a trailing slash: `http://gateway:8000`. */
  readonly baseUrl: string;
}

/** A document that is derived from a model version. */
type DerivedKind = Exclude<ModelDocumentKind, 'schema' | 'context'>;

interface Parts {
  readonly models: CachedModels;
  readonly contents: ContentStore;
  readonly descriptions: ModelDescriptions;
  readonly examples: ModelExamples;
  readonly workers: ServiceWorkers;
  readonly cache: Cache<ServedDocument>;
}

/** The documents of models, ready to send. Derived ones are created on the first request. */
export class ModelDocuments {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns a document. @throws NotFoundError; FileNotFoundError if no example was found; errors of the workers */
  of(
    key: ModelKey,
    kind: ModelDocumentKind,
    options: ModelReadOptions,
  ): Promise<ServedDocument & { readonly lifecycle: Lifecycle }> {
    return retryIfContentGone(async () => {
      const at = await this.#parts.models.of(key, options.version);
      return { ...(await this.ofVersion(at, kind, options)), lifecycle: at.model };
    });
  }

  /**
   * Does the same as `of` for a version that was already read. Wrap the call in `retryIfContentGone`, together with the read of
   * the version.
   */
  async ofVersion(at: ModelAt, kind: ModelDocumentKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { contents, cache } = this.#parts;
    if (kind === 'schema') return contents.served(at.version.schema, MEDIA_TYPES.schema);
    if (kind === 'context') return contents.servedContext(at.version.context, options.baseUrl);
    const key = derivedKey(at, kind, options);
    return getOrCreate(cache, key, () => this.#derive(at, kind, options));
  }

  async #derive(at: ModelAt, kind: DerivedKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { bundled } = await this.#parts.descriptions.of(at.version);
    switch (kind) {
      case 'bundled':
        return toServedDocument(bundled, MEDIA_TYPES.schema);
      case 'openapi':
        return toServedDocument(await this.#openApi(at, options), MEDIA_TYPES.openapi);
      case 'example':
      case 'example-normalized':
        return toServedDocument(await this.#exampleText(at, kind, options), MEDIA_TYPES.context);
    }
  }

  async #openApi(at: ModelAt, options: ModelReadOptions): Promise<string> {
    const { descriptions, workers } = this.#parts;
    const { model, version } = at;
    const { bundled, types } = await descriptions.of(version);
    const found = await this.#example(at);
    const { example, normalizedReason } = found;
    return workers.run('modelOpenApi', {
      domain: model.domain,
      model: model.name,
      types: entityTypes(model.name, types),
      version: version.number,
      description: descriptionOf(at, options),
      schema: bundled,
      example: example === undefined ? undefined : JSON.stringify(example),
      isKeyValuesOnly: normalizedReason !== undefined,
      context: contextOf(at, options, found),
      serverUrl: options.baseUrl,
    });
  }

  async #exampleText(
    at: ModelAt,
    kind: 'example' | 'example-normalized',
    options: ModelReadOptions,
  ): Promise<string> {
    const found = await this.#example(at);
    const { example, reason, normalizedReason } = found;
    const missing = kind === 'example' ? reason : normalizedReason;
    if (example === undefined || missing !== undefined)
      throw new FileNotFoundError(`${kind}.jsonld`, missing);
    const context = contextOf(at, options, found);
    if (kind === 'example') return JSON.stringify({ ...example, '@context': context });
    const { attributes } = await this.#parts.descriptions.of(at.version);
    return JSON.stringify(normalizedExample(example, attributes, context));
  }

  async #example({ model, version }: ModelAt): Promise<FoundExample> {
    const { descriptions, examples } = this.#parts;
    const { bundled } = await descriptions.of(version);
    return examples.of(model.name, contentKey(version), bundled);
  }
}

/** Returns a key for the cache: equal keys mean equal bytes. */
function derivedKey(at: ModelAt, kind: DerivedKind, options: ModelReadOptions): string {
  const content = contentKey(at.version);
  if (kind === 'bundled') return JSON.stringify([kind, content]);
  const { domain, name } = at.model;
  const example = [kind, content, domain, name, options.baseUrl, options.version];
  return JSON.stringify(
    kind === 'openapi' ? [...example, at.version.number, descriptionOf(at, options)] : example,
  );
}

/**
 * Returns the context of an example: the model's, then the core context (ETSI GS CIM 009 V1.9.1, clause 4.4), unless the
 * schema accepts no such list.
 */
function contextOf(
  { model }: ModelAt,
  { baseUrl, version }: ModelReadOptions,
  { contextForm, ownContext }: FoundExample,
): JsonValue {
  if (contextForm === 'own' && ownContext !== undefined) return ownContext;
  const url = contextUrl(baseUrl, model.contextName, version);
  return contextForm === 'url' ? url : [url, coreContextUrl()];
}

/** Returns the description of the given version, or the model's current one by default. */
function descriptionOf({ model, version }: ModelAt, options: ModelReadOptions): string | undefined {
  return options.version === undefined ? model.description : version.description;
}

export interface ModelFile {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  /** The URI in `$ref`s, for a document that the schema refers to. */
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

/** The files of model versions: their documents, the documents that their schemas refer to, and examples of models. */
export class ModelFiles {
  readonly #models: CachedModels;
  readonly #documents: ModelDocuments;
  readonly #contents: ContentStore;
  readonly #examples: Examples;

  constructor(models: CachedModels, documents: ModelDocuments, contents: ContentStore, examples: Examples) {
    this.#models = models;
    this.#documents = documents;
    this.#contents = contents;
    this.#examples = examples;
  }

  /** Lists all files of a model; documents that the schema refers to come last. @throws NotFoundError */
  list(key: ModelKey, options: ModelReadOptions): Promise<readonly ModelFile[]> {
    return retryIfContentGone(async () => {
      const at = await this.#models.of(key, options.version);
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

  /** Returns a file. @throws NotFoundError, FileNotFoundError */
  get(key: ModelKey, name: string, options: ModelReadOptions): Promise<ServedDocument> {
    return retryIfContentGone(async () => {
      const at = await this.#models.of(key, options.version);
      const kind = KINDS.get(name);
      if (kind !== undefined) return this.#documents.ofVersion(at, kind, options);
      const isNamed = ({ uri }: PinnedReference) => referenceFileName(uri) === name;
      const reference = at.version.references.find(isNamed);
      if (reference === undefined) throw new FileNotFoundError(name);
      return this.#contents.served(reference, MEDIA_TYPES.schema);
    });
  }

  /** Returns an example, unchanged. @throws NotFoundError */
  example(key: ModelKey, name: string): Promise<ServedDocument> {
    return retryIfContentGone(async () => {
      const { content } = await this.#examples.get(key, name);
      return this.#contents.served(content, isStrictExample(name) ? MEDIA_TYPES.context : 'application/json');
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
 * The file name of a document that schemas refer to: the last word of its URI, and a hash that makes it unique. Depends
 * only on the URI.
 */
export function referenceFileName(uri: string): string {
  const word = /([A-Za-z0-9_-]{1,64})(?:\.[A-Za-z0-9]+)?[^A-Za-z0-9_-]*$/.exec(uri)?.[1] ?? 'document';
  return `${word}-${hash('sha256', uri).slice(0, 12)}.json`;
}
