import { coreContextUrl } from '../json-ld/core-context.js';
import type { JsonObject } from '../../shared/json/json.js';
import { exampleEntity } from '../openapi/example-entity.js';
import type { ModelAt } from '../store/records.js';
import type { BoundedCache } from './bounded-cache.js';
import type { Contents } from './contents.js';
import { contextUrl } from './context-urls.js';
import { FileNotFoundError } from './errors.js';
import { contentKey, type ModelDescriptions } from './model-descriptions.js';
import type { ModelExamples } from './model-examples.js';
import type { ServiceWorkers } from './schema-intake.js';
import { MEDIA_TYPES, serve } from './served.js';
import type { ModelDocumentKind, ModelReadOptions, ServedDocument } from './shapes.js';

/** A document that is made from a model version. */
type DerivedKind = Exclude<ModelDocumentKind, 'schema' | 'context'>;

interface Parts {
  readonly contents: Contents;
  readonly descriptions: ModelDescriptions;
  readonly examples: ModelExamples;
  readonly workers: ServiceWorkers;
  readonly cache: BoundedCache<ServedDocument>;
}

/** The documents of model versions, as they are sent. Those that are derived are made when first asked for. */
export class ModelDocuments {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws FileNotFoundError for an example where there is none; errors of the workers */
  async of(at: ModelAt, kind: ModelDocumentKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { contents, cache } = this.#parts;
    if (kind === 'schema' || kind === 'context') return contents.served(at.version[kind], MEDIA_TYPES[kind]);
    const key = derivedKey(at, kind, options);
    return cache.get(key) ?? cache.getOrMake(key, () => this.#derive(at, kind, options));
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
