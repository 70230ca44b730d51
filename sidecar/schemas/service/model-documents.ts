import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { TaskFailedError } from '../../shared/workers/errors.js';
import { coreContextUrl } from '../json-ld/core-context.js';
import { SchemaTooCostlyError } from '../json-schema/errors.js';
import { makeExample } from '../json-schema/schema-work.js';
import { exampleEntity } from '../openapi/example-entity.js';
import type { ModelAt, ModelVersion } from '../store/records.js';
import { type Cache, type Contents, createCache, made, MEDIA_TYPES, serve } from './contents.js';
import { contextUrl } from './context-urls.js';
import { FileNotFoundError, unlessRefused } from './errors.js';
import type { ModelDescription } from './model-tasks.js';
import type { ServiceWorkers } from './schema-intake.js';
import type { ModelDocumentKind, ModelReadOptions, ServedDocument } from './shapes.js';

/** A document that is made from a model version. */
type DerivedKind = Exclude<ModelDocumentKind, 'schema' | 'context'>;

interface Parts {
  readonly contents: Contents;
  readonly descriptions: ModelDescriptions;
  readonly examples: ModelExamples;
  readonly workers: ServiceWorkers;
  readonly cache: Cache<ServedDocument>;
}

/** The documents of model versions, as they are sent. Those that are derived are made when first asked for. */
export class ModelDocuments {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws FileNotFoundError when an example could not be made; errors of the workers */
  async of(at: ModelAt, kind: ModelDocumentKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { contents, cache } = this.#parts;
    if (kind === 'schema') return contents.served(at.version.schema, MEDIA_TYPES.schema);
    if (kind === 'context') return contents.servedContext(at.version.context, options.baseUrl);
    const key = derivedKey(at, kind, options);
    return made(cache, key, () => this.#derive(at, kind, options));
  }

  async #derive(at: ModelAt, kind: DerivedKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { bundled } = await this.#parts.descriptions.of(at.version);
    switch (kind) {
      case 'bundled':
        return serve(bundled, MEDIA_TYPES.schema);
      case 'openapi':
        return serve(await this.#openApi(at, options), MEDIA_TYPES.openapi);
      case 'example':
      case 'example-normalized':
        return serve(await this.#exampleText(at, kind, options), MEDIA_TYPES.context);
    }
  }

  async #openApi(at: ModelAt, options: ModelReadOptions): Promise<string> {
    const { descriptions, workers } = this.#parts;
    const { model, version } = at;
    const { bundled } = await descriptions.of(version);
    const example = await this.#example(at);
    const description = descriptionOf(at, options);
    return workers.run('modelOpenApi', {
      domain: model.domain,
      model: model.name,
      version: version.number,
      ...(description === undefined ? {} : { description }),
      schema: JSON.parse(bundled) as JsonObject,
      ...(example === undefined ? {} : { example }),
      context: contextOf(at, options),
      serverUrl: options.baseUrl,
    });
  }

  async #exampleText(
    at: ModelAt,
    kind: 'example' | 'example-normalized',
    options: ModelReadOptions,
  ): Promise<string> {
    const example = await this.#example(at);
    if (example === undefined) throw new FileNotFoundError(`${kind}.jsonld`);
    const context = contextOf(at, options);
    if (kind === 'example') return JSON.stringify({ ...example, '@context': context });
    const { attributes } = await this.#parts.descriptions.of(at.version);
    return JSON.stringify(exampleEntity(example, attributes, context));
  }

  async #example({ model, version }: ModelAt): Promise<JsonObject | undefined> {
    const { descriptions, examples } = this.#parts;
    const { bundled } = await descriptions.of(version);
    return examples.of(model.name, contentKey(version), bundled);
  }
}

/** The same for the same bytes. */
function derivedKey(at: ModelAt, kind: DerivedKind, options: ModelReadOptions): string {
  const content = contentKey(at.version);
  if (kind === 'bundled') return JSON.stringify([kind, content]);
  const { domain, name } = at.model;
  const example = [kind, content, domain, name, options.baseUrl, options.version];
  return JSON.stringify(
    kind === 'openapi' ? [...example, at.version.number, descriptionOf(at, options)] : example,
  );
}

/** The context of entities: the model's, then the core context (ETSI GS CIM 009 V1.9.1, clause 4.4). */
function contextOf({ model }: ModelAt, { baseUrl, version }: ModelReadOptions): readonly string[] {
  return [contextUrl(baseUrl, model.contextName, version), coreContextUrl()];
}

/** That of a given version is its own, which never changes. */
function descriptionOf({ model, version }: ModelAt, options: ModelReadOptions): string | undefined {
  return options.version === undefined ? model.description : version.description;
}

/** Descriptions of model versions: what is not at hand is made when first asked for. */
export class ModelDescriptions {
  readonly #contents: Contents;
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<ModelDescription>;

  constructor(contents: Contents, workers: ServiceWorkers, cacheBytes: number) {
    this.#contents = contents;
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, sizeOf);
  }

  /** Takes in what was found out when the version was made. */
  async keep(version: ModelVersion, description: ModelDescription): Promise<void> {
    await made(this.#cache, contentKey(version), async () => description);
  }

  /** @throws TaskTooCostlyError, WorkersBusyError, TaskFailedError */
  async of(version: ModelVersion): Promise<ModelDescription> {
    return made(this.#cache, contentKey(version), async () => {
      const pinned = version.references.map(
        async (reference) => [reference.uri, await this.#contents.text(reference)] as const,
      );
      const [schema, documents] = await Promise.all([
        this.#contents.text(version.schema),
        Promise.all(pinned),
      ]);
      return unlessRefused(await this.#workers.run('describeModel', { schema, documents }), '');
    });
  }
}

/** The same for versions whose schemas, with all that they refer to, are the same. */
export function contentKey({ schema, references }: ModelVersion): string {
  return [schema.sha256, ...references.map(({ uri, sha256 }) => `${sha256} ${uri}`)].join('\n');
}

/** Bytes of the texts in it, at two for a character. */
function sizeOf({ bundled, attributes, names }: ModelDescription): number {
  const all = [...names, ...attributes.map(({ name }) => name)];
  return 2 * all.reduce((sum, name) => sum + name.length, bundled.length);
}

/** An entity in key-values form; undefined when none that satisfies the schema was found. */
interface FoundExample {
  readonly example: JsonObject | undefined;
}

/** Example entities of models, made when first asked for. */
export class ModelExamples {
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<FoundExample>;

  constructor(workers: ServiceWorkers, cacheBytes: number) {
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, ({ example }) => JSON.stringify(example ?? null).length * 4);
  }

  /**
   * @param key the same for the same schema
   * @param bundled text of the self-contained schema
   * @throws WorkersBusyError, TaskFailedError
   */
  async of(entityType: string, key: string, bundled: string): Promise<JsonObject | undefined> {
    const found = await made(this.#cache, `${entityType} ${key}`, async () => ({
      example: await this.#make(entityType, JSON.parse(bundled) as JsonObject),
    }));
    return found.example;
  }

  async #make(entityType: string, schema: JsonObject): Promise<JsonObject | undefined> {
    try {
      const { example, faults } = await makeExample({ schema, entityType }, this.#workers);
      return faults.length === 0 ? entityOf(example) : undefined;
    } catch (error) {
      if (isTooMuch(error)) return undefined;
      throw error;
    }
  }
}

/** Whether work on a schema failed because of the schema: too costly, or too deep for the stack. */
export function isTooMuch(error: unknown): boolean {
  return (
    error instanceof SchemaTooCostlyError ||
    (error instanceof TaskFailedError && error.cause instanceof RangeError)
  );
}

/** What a schema says about `@context` is overruled: what the model's entities have there is known. */
function entityOf(example: JsonValue): JsonObject | undefined {
  if (!isObject(example)) return undefined;
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== '@context'));
}
