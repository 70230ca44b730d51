import { NotFoundError } from '../../store/errors.js';
import type { Model, ModelKey } from '../../store/records.js';
import type { SchemaStore } from '../../store/store.js';
import { WhileUnwritten } from './concurrency.js';
import type { Lifecycle } from './shapes.js';

/** What the users of models may expect of them: asked for with every read, so that each is looked up once only. */
export class Lifecycles {
  readonly #store: SchemaStore;
  readonly #known: WhileUnwritten<Lifecycle>;

  constructor(store: SchemaStore) {
    this.#store = store;
    this.#known = new WhileUnwritten(store);
  }

  /** @throws NotFoundError */
  of(key: ModelKey): Promise<Lifecycle> {
    const name = JSON.stringify([key.domain, key.name]);
    return this.#known.get(name, async () => lifecycleOf((await this.#store.models.get(key)).model));
  }

  /** Of the model that a context is generated from; undefined for other contexts. */
  async ofContext(name: string): Promise<Lifecycle | undefined> {
    const [domain = '', model, ...rest] = name.split('~');
    if (model === undefined || rest.length > 0) return undefined;
    try {
      return await this.of({ domain, name: model });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}

export function lifecycleOf({ status, deprecatedAt, sunsetAt }: Model): Lifecycle {
  return { status, deprecatedAt, sunsetAt };
}
