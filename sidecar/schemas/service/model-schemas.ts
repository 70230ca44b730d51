import { createHash } from 'node:crypto';
import type { ModelKey } from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { rereading } from './contents.js';
import { contentKey, type ModelDescriptions } from './model-descriptions.js';
import type { ModelSchema } from './shapes.js';
import { WhileUnwritten } from './while-unwritten.js';

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
      text: () => rereading(async () => (await this.#descriptions.of(at.version)).bundled),
    };
  }
}
