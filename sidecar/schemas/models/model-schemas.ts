import { hash } from 'node:crypto';
import type { JsonValue } from '../../shared/json/json.js';
import { type Model, type ModelAt, type ModelKey, type SchemaStore } from '../../store/index.js';
import { unlessGone, ReadCache } from './concurrency.js';
import { rereading } from './contents.js';
import { requireName } from './errors.js';
import { contentKey, type ModelDescriptions } from './model-descriptions.js';
import type { SchemaIntake } from './schema-intake.js';

/** The schema of a model version, to be compiled. */
export interface ModelSchema {
  /** The same for schemas that are the same with all that they refer to; SHA-256, hex. */
  readonly contentHash: string;
  /** Number of the version; 0 for a schema that is stored nowhere. */
  readonly version: number;
  readonly lifecycle: Lifecycle;
  /** Its text, self-contained, of draft 2020-12. @throws errors of the workers, StoreUnavailableError */
  readonly text: () => Promise<string>;
}

/** How many times the deadline of a task compiling models may take. Compiling ends, as the schemas were accepted. */
export const COMPILE_DEADLINES = 5;

/** Adds the schemas that a worker needs. Those that are there stay: their models may be deleted meanwhile. */
export async function addSchemas(
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
  readonly #models: KnownModels;
  readonly #descriptions: ModelDescriptions;
  readonly #intake: SchemaIntake;

  constructor(models: KnownModels, descriptions: ModelDescriptions, intake: SchemaIntake) {
    this.#models = models;
    this.#descriptions = descriptions;
    this.#intake = intake;
  }

  /** @throws NotFoundError */
  async of(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    return this.ofVersion(await this.#models.of(key, version));
  }

  /** As `of`, for a version that was already read. */
  ofVersion({ model, version }: ModelAt): ModelSchema {
    return {
      contentHash: hash('sha256', contentKey(version)),
      version: version.number,
      lifecycle: model,
      text: () => rereading(async () => (await this.#descriptions.of(version)).bundled),
    };
  }

  /**
   * The schema that a model would have if it were created from this one; nothing is written.
   *
   * @throws InvalidBodyError, SchemaNotAcceptedError
   */
  async ofNew(key: ModelKey, schema: JsonValue): Promise<ModelSchema> {
    requireName(key.name);
    const input = { schema, contextBase: undefined, context: undefined, baseUrl: '' };
    const { bundled } = (await this.#intake.accept(key, input)).description;
    const contentHash = hash('sha256', bundled);
    const lifecycle = { deprecatedAt: undefined, sunsetAt: undefined };
    return { contentHash, version: 0, lifecycle, text: () => Promise.resolve(bundled) };
  }
}

/** Since when a model is deprecated, and when it goes, in milliseconds since the epoch. */
export type Lifecycle = Pick<Model, 'deprecatedAt' | 'sunsetAt'>;

/** The model that a text names, and its version if it names one: `D/M`, or `D/M@3`. Undefined for other texts. */
export function modelNamed(text: string): (ModelKey & { readonly version: number | undefined }) | undefined {
  const [, domain, name, version] = /^([^/@]+)\/([^/@]+)(?:@([1-9]\d{0,9}))?$/.exec(text) ?? [];
  if (domain === undefined || name === undefined) return undefined;
  return { domain, name, version: version === undefined ? undefined : Number(version) };
}

/** Models at their versions. Every request about a model needs one, so they are kept until something is written. */
export class KnownModels {
  readonly #store: Pick<SchemaStore, 'models' | 'revision'>;
  readonly #known: ReadCache<ModelAt>;

  constructor(store: Pick<SchemaStore, 'models' | 'revision'>) {
    this.#store = store;
    this.#known = new ReadCache(store);
  }

  /** @param version the current one when not given; @throws NotFoundError */
  of(key: ModelKey, version?: number): Promise<ModelAt> {
    const name = JSON.stringify([key.domain, key.name, version]);
    return this.#known.get(name, () => this.#store.models.get(key, version));
  }

  /** The model from which a context is generated; undefined for other contexts. */
  async ofContext(name: string): Promise<Model | undefined> {
    const [domain = '', model, ...rest] = name.split('~');
    if (model === undefined || rest.length > 0) return undefined;
    return (await unlessGone(this.of({ domain, name: model })))?.model;
  }
}

/** What a validation says about entities of a deprecated model; completes "The entity …". */
export function deprecationOf(
  { name }: ModelKey,
  { deprecatedAt, sunsetAt }: Lifecycle,
): { readonly deprecation?: string } {
  if (deprecatedAt === undefined) return {};
  const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const end = sunsetAt === undefined ? '' : `, and will be removed on ${dateOf(sunsetAt)}`;
  return {
    deprecation: `is of the model ${name}, which has been deprecated since ${dateOf(deprecatedAt)}${end}`,
  };
}
