import { TaskFailedError } from '../../shared/workers/errors.js';
import { unlessTooCostly } from '../../shared/workers/too-costly.js';
import { entityTypes } from '../json-schema/entity-types.js';
import { NotFoundError } from '../../store/errors.js';
import type { Model, ModelFilter, ModelKey, ModelTerms, Page, Paged } from '../../store/records.js';
import type { SchemaStore } from '../../store/store.js';
import { WhileUnwritten } from './concurrency.js';
import { rereading } from './contents.js';
import { SchemaNotAcceptedError } from './errors.js';
import type { ModelDescriptions } from './model-descriptions.js';
import type { ModelDescription } from './describe-model.js';

/** Models that get their terms between two looks for more. */
const AT_ONCE = 100;

/** Models of a type that are told apart: more than one are ambiguous already. */
const MAX_OF_TYPE = 10;

/** What a version of a model is found by. */
export function termsOf(model: string, { types, attributes }: ModelDescription): ModelTerms {
  return { types: entityTypes(model, types), attributes: attributes.map(({ name }) => name) };
}

/** Finds models of all domains. Models that were stored before there were searches get their terms with the first one. */
export class ModelSearch {
  readonly #store: SchemaStore;
  readonly #descriptions: ModelDescriptions;
  readonly #byType: WhileUnwritten<readonly Model[]>;
  readonly #complete: WhileUnwritten<true>;
  /** Models that could not be described: until the next start, they are found by name and description alone. */
  readonly #givenUp = new Set<string>();

  constructor(store: SchemaStore, descriptions: ModelDescriptions) {
    this.#store = store;
    this.#descriptions = descriptions;
    this.#byType = new WhileUnwritten(store);
    this.#complete = new WhileUnwritten(store);
  }

  /** Models by domain and name. @param filter all of it must hold */
  async matching(filter: ModelFilter, page: Page): Promise<Paged<Model>> {
    await this.#complete.get('', () => this.#completeTerms());
    return this.#store.models.search(filter, page);
  }

  /** The first few models whose entities have a type. */
  ofType(type: string, domain: string | undefined): Promise<readonly Model[]> {
    return this.#byType.get(JSON.stringify([type, domain]), async () => {
      const { items } = await this.matching({ type, domain }, { limit: MAX_OF_TYPE, offset: 0 });
      return items;
    });
  }

  async #completeTerms(): Promise<true> {
    // Each once: a model may have nothing that it can be found by.
    const tried = new Set(this.#givenUp);
    for (;;) {
      const listed = await this.#store.models.withoutTerms(AT_ONCE + tried.size);
      const keys = listed.filter((key) => !tried.has(JSON.stringify(key)));
      if (keys.length === 0) return true;
      for (const key of keys) {
        tried.add(JSON.stringify(key));
        await this.#addTerms(key);
      }
    }
  }

  async #addTerms(key: ModelKey): Promise<void> {
    // No single schema may keep all others from being found.
    const giveUp = () => void this.#givenUp.add(JSON.stringify(key));
    const describing = rereading(async () => {
      const { version } = await this.#store.models.get(key);
      const description = await this.#descriptions.of(version);
      await this.#store.models.putTerms(key, version, termsOf(key.name, description));
    });
    try {
      await unlessTooCostly(describing, giveUp);
    } catch (error) {
      if (error instanceof TaskFailedError || error instanceof SchemaNotAcceptedError) giveUp();
      // It may have been deleted since it was listed.
      else if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
