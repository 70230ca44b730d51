import { createHash } from 'node:crypto';
import type { ModelKey } from '../schema-store/records.js';
import type { SchemaStore } from '../schema-store/store.js';
import { rereading } from './contents.js';
import { contentKey, type ModelDescriptions } from './model-descriptions.js';
import type { ModelSchema } from './shapes.js';

/** Models that are known at a time. */
const KNOWN_MAX = 1000;

/** The schemas of model versions, to be compiled: asked for with every entity, so that each is looked up once only. */
export class ModelSchemas {
  readonly #store: SchemaStore;
  readonly #descriptions: ModelDescriptions;
  /** What holds while nothing is written. */
  readonly #known = new Map<string, ModelSchema>();
  #revision = '';

  constructor(store: SchemaStore, descriptions: ModelDescriptions) {
    this.#store = store;
    this.#descriptions = descriptions;
  }

  /** @throws NotFoundError */
  async of(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    // Before the model is read: what is written after that is seen the next time.
    const revision = await this.#store.revision();
    if (revision !== this.#revision || this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#revision = revision;
    const name = JSON.stringify([key.domain, key.name, version]);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const found = await this.#read(key, version);
    if (this.#revision === revision) this.#known.set(name, found);
    return found;
  }

  async #read(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    const at = await this.#store.models.get(key, version);
    const contentHash = createHash('sha256').update(contentKey(at.version)).digest('hex');
    return {
      contentHash,
      text: () => rereading(async () => (await this.#descriptions.of(at.version)).bundled),
    };
  }
}
