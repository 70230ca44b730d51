import type { SchemaStore } from '../store/store.js';

/** Values that are known at a time. */
const KNOWN_MAX = 1000;

/** What was read from the store, by key, for as long as nothing is written to it, by whatever process. */
export class WhileUnwritten<Value> {
  readonly #store: Pick<SchemaStore, 'revision'>;
  readonly #known = new Map<string, Value>();
  #revision = '';

  constructor(store: Pick<SchemaStore, 'revision'>) {
    this.#store = store;
  }

  /**
   * The value of a key: what was read for it, unless something has been written since.
   *
   * @param read what throws is not kept
   * @throws StoreUnavailableError, and what `read` throws
   */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    // Before anything is read: what is written after that is seen the next time.
    const revision = await this.#store.revision();
    if (revision !== this.#revision || this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#revision = revision;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = await read();
    if (this.#revision === revision) this.#known.set(key, found);
    return found;
  }
}
