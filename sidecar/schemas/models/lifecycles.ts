import { type Model, type ModelKey, NotFoundError, type SchemaStore } from '../../store/index.js';
import { WhileUnwritten } from './concurrency.js';

/** What users can expect of a model: whether it may still change, and when it goes. Times are milliseconds since the epoch. */
export type Lifecycle = Pick<Model, 'status' | 'deprecatedAt' | 'sunsetAt'>;

/** The lifecycles of models. Every read of a model needs one, so they are kept until something is written. */
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

  /** That of the model from which a context is generated; undefined for other contexts. */
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
