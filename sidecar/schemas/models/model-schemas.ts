import type { JsonValue } from '../../shared/json/json.js';
import { type Model, type ModelAt, type ModelKey, type SchemaStore } from '../../store/index.js';
import { undefinedIfGone, ReadCache } from './concurrency.js';
import { retryIfContentGone } from './content-store.js';
import { requireName } from './errors.js';
import { contentHash, hashOfNew, type ModelDescriptions } from './model-descriptions.js';
import type { SchemaChecker } from './schema-checker.js';

/** The schema of a model version, to be compiled. */
export interface ModelSchema {
  /** Equal for schemas that are the same, including everything they refer to; SHA-256, hex. */
  readonly contentHash: string;
  /** Number of the version; 0 for a schema that is not stored. */
  readonly version: number;
  readonly lifecycle: Lifecycle;
  /**
   * Returns the text of the self-contained schema, in draft 2020-12.
   *
   * @throws errors of the workers, StoreUnavailableError
   */
  readonly text: () => Promise<string>;
}

/**
 * The deadline of a task that compiles models, as a multiple of the normal one. Compiling ends, because the schemas
 * were accepted.
 */
export const COMPILE_DEADLINES = 5;

/**
 * Adds the schemas that a worker needs. Those already present are kept, because their models may have been deleted in
 * the meantime.
 */
export async function addMissingSchemas(
  schemas: Map<string, string>,
  models: readonly { readonly schema: ModelSchema }[],
  keys: readonly string[],
): Promise<void> {
  for (const { schema } of models)
    if (keys.includes(schema.contentHash) && !schemas.has(schema.contentHash))
      schemas.set(schema.contentHash, await schema.text());
}

/** The schemas that entities are validated against. */
export class ModelSchemas {
  readonly #models: CachedModels;
  readonly #descriptions: ModelDescriptions;
  readonly #schemaChecker: SchemaChecker;

  constructor(models: CachedModels, descriptions: ModelDescriptions, schemaChecker: SchemaChecker) {
    this.#models = models;
    this.#descriptions = descriptions;
    this.#schemaChecker = schemaChecker;
  }

  /** Returns the schema of a model. @throws NotFoundError */
  async of(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    return this.ofVersion(await this.#models.of(key, version));
  }

  /** Does the same as `of` for a version that was already read. */
  ofVersion({ model, version }: ModelAt): ModelSchema {
    return {
      contentHash: contentHash(version),
      version: version.number,
      lifecycle: model,
      text: () => retryIfContentGone(async () => (await this.#descriptions.of(version)).bundled),
    };
  }

  /**
   * Returns the schema of a model as if it were created from this one; writes nothing.
   *
   * @throws InvalidBodyError, SchemaRefusedError
   */
  async ofNew(key: ModelKey, schema: JsonValue): Promise<ModelSchema> {
    requireName(key.name);
    const time = { usedMs: 0 };
    const input = { schema, contextBase: undefined, context: undefined, baseUrl: '', time };
    const { version, description } = await this.#schemaChecker.accept(key, input);
    return {
      contentHash: hashOfNew(version),
      version: 0,
      lifecycle: { deprecatedAt: undefined, sunsetAt: undefined },
      text: () => Promise.resolve(description.bundled),
    };
  }
}

/** When a model was deprecated, and when it will be removed, in milliseconds since the epoch. */
export type Lifecycle = Pick<Model, 'deprecatedAt' | 'sunsetAt'>;

/** Parses the name of a model, with a version if there is one: `D/M`, or `D/M@3`. Undefined for other texts. */
export function parseModelName(
  text: string,
): (ModelKey & { readonly version: number | undefined }) | undefined {
  const [, domain, name, version] = /^([^/@]+)\/([^/@]+)(?:@([1-9]\d{0,9}))?$/.exec(text) ?? [];
  if (domain === undefined || name === undefined) return undefined;
  return { domain, name, version: version === undefined ? undefined : Number(version) };
}

/** Models with their versions. Every request about a model needs one, so they are cached until something is written. */
export class CachedModels {
  readonly #store: Pick<SchemaStore, 'models' | 'revision'>;
  readonly #known: ReadCache<ModelAt>;

  constructor(store: Pick<SchemaStore, 'models' | 'revision'>) {
    this.#store = store;
    this.#known = new ReadCache(store);
  }

  /**
   * Returns a model at a version.
   *
   * @param version the current version by default
   * @throws NotFoundError
   */
  of(key: ModelKey, version?: number): Promise<ModelAt> {
    const name = JSON.stringify([key.domain, key.name, version]);
    return this.#known.get(name, () => this.#store.models.get(key, version));
  }

  /** Returns the model from which a context is generated; undefined for other contexts. */
  async ofContext(name: string): Promise<Model | undefined> {
    const [domain = '', model, ...rest] = name.split('~');
    if (model === undefined || rest.length > 0) return undefined;
    return (await undefinedIfGone(this.of({ domain, name: model })))?.model;
  }
}

/** Describes the deprecation of a model for the result of a validation; completes "The entity …". */
export function deprecationOf(
  { name }: ModelKey,
  { deprecatedAt, sunsetAt }: Lifecycle,
): { readonly deprecation?: string } {
  if (deprecatedAt === undefined) return {};
  const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const end = sunsetAt === undefined ? '' : `, and will be removed on ${dateOf(sunsetAt)}`;
  return {
    deprecation: `uses the model ${name}, which has been deprecated since ${dateOf(deprecatedAt)}${end}`,
  };
}
