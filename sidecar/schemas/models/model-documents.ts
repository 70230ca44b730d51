import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { parseJson, writeJson } from '../../shared/json/lossless-json.js';
import { TaskFailedError } from '../../shared/workers/errors.js';
import { coreContextUrl } from '../json-ld/core-context.js';
import { SchemaRefusedError } from '../json-schema/errors.js';
import { entityTypes } from '../json-schema/entity-types.js';
import { exampleEntity } from '../json-schema/example-entity.js';
import type { ModelAt, ModelVersion } from '../../store/records.js';
import { makeExample } from '../validation/example-work.js';
import type { InputIssue } from '../../shared/json/pointer.js';
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
    const { bundled, types } = await descriptions.of(version);
    const [entityType] = entityTypes(model.name, types);
    const { example, normalizedReason } = await this.#example(at);
    const description = descriptionOf(at, options);
    return workers.run('modelOpenApi', {
      domain: model.domain,
      model: model.name,
      ...(entityType === undefined ? {} : { entityType }),
      version: version.number,
      ...(description === undefined ? {} : { description }),
      schema: bundled,
      ...(example === undefined ? {} : { example: writeJson(example) }),
      ...(normalizedReason === undefined ? {} : { isKeyValuesOnly: true }),
      context: contextOf(at, options),
      serverUrl: options.baseUrl,
    });
  }

  async #exampleText(
    at: ModelAt,
    kind: 'example' | 'example-normalized',
    options: ModelReadOptions,
  ): Promise<string> {
    const { example, reason, normalizedReason } = await this.#example(at);
    const missing = kind === 'example' ? reason : normalizedReason;
    if (example === undefined || missing !== undefined)
      throw new FileNotFoundError(`${kind}.jsonld`, missing);
    const context = contextOf(at, options);
    if (kind === 'example') return writeJson({ ...example, '@context': context });
    const { attributes } = await this.#parts.descriptions.of(at.version);
    return writeJson(exampleEntity(example, attributes, context));
  }

  async #example({ model, version }: ModelAt): Promise<FoundExample> {
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

/** An entity in key-values form that satisfies the schema; where none was found, or not as brokers take it, why not. */
interface FoundExample {
  readonly example?: JsonObject;
  readonly reason?: string;
  readonly normalizedReason?: string;
}

/** Example entities of models, made when first asked for. */
export class ModelExamples {
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<FoundExample>;

  constructor(workers: ServiceWorkers, cacheBytes: number) {
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, (found) => writeJson(found).length * 4);
  }

  /**
   * @param key the same for the same schema
   * @param bundled text of the self-contained schema
   * @throws WorkersBusyError, TaskFailedError
   */
  async of(entityType: string, key: string, bundled: string): Promise<FoundExample> {
    return made(this.#cache, `${entityType} ${key}`, () => this.#make(entityType, bundled));
  }

  async #make(entityType: string, schema: string): Promise<FoundExample> {
    try {
      const made = await makeExample({ schema, entityType }, this.#workers);
      const example = entityOf(parseJson(made.example) as JsonValue);
      const [fault] = made.faults;
      if (example === undefined) return without(NO_OBJECT);
      if (fault !== undefined) return without(reasonOf(fault));
      const [normalizedFault] = made.normalizedFaults;
      return normalizedFault === undefined
        ? { example }
        : { example, normalizedReason: reasonOf(normalizedFault) };
    } catch (error) {
      if (isTooMuch(error)) return without('The schema makes looking for one too costly.');
      throw error;
    }
  }
}

function without(reason: string): FoundExample {
  return { reason, normalizedReason: reason };
}

const NO_OBJECT = 'No valid entity was found: the schema seems to allow no JSON object, which an entity is.';

/** What keeps the best example that was found from being valid. */
function reasonOf({ pointer, detail }: InputIssue): string {
  return `No valid entity was found. Of the nearest that was tried, ${pointer === '' ? 'the whole' : pointer} ${detail}.`;
}

/** Whether work on a schema failed because of the schema: too costly, or too deep for the stack. */
export function isTooMuch(error: unknown): boolean {
  return (
    (error instanceof SchemaRefusedError && error.kind === 'schemaTooCostly') ||
    (error instanceof TaskFailedError && error.cause instanceof RangeError)
  );
}

/** What a schema says about `@context` is overruled: what the model's entities have there is known. */
function entityOf(example: JsonValue): JsonObject | undefined {
  if (!isObject(example)) return undefined;
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== '@context'));
}
