import type { ModelKey } from '../../store/index.js';
import { undefinedIfNotFound, type SchemaService } from '../models/index.js';

/** The key of a model in a set or map. */
export function nameOf({ domain, name }: ModelKey): string {
  return `${domain}/${name}`;
}

interface Change {
  readonly name: string;
  /** The text before the change. */
  readonly before: string;
  /** The models that may have followed the context then, by name. */
  readonly followers: ReadonlyMap<string, ModelKey>;
}

/** Records which contexts of the service change during an import, both custom and generated ones. */
export class ChangedContexts {
  readonly #changes: Change[] = [];

  constructor(private readonly contexts: Pick<SchemaService['contexts'], 'document' | 'followers'>) {}

  /** Number of changes so far. */
  get count(): number {
    return this.#changes.length;
  }

  /** Runs a write that may change or create a context. @param name of a custom or generated context */
  async during<Result>(name: string, write: () => Promise<Result>): Promise<Result> {
    const before = await this.#text(name);
    const result = await write();
    if (before === undefined || before === (await this.#text(name))) return result;
    const models = await this.contexts.followers(name);
    this.#changes.push({ name, before, followers: new Map(models.map((key) => [nameOf(key), key])) });
    return result;
  }

  /**
   * Returns earlier texts, by name, of changed contexts that a model may have followed; undefined if none has changed.
   *
   * @param count number of changes to skip
   */
  before(key: ModelKey, count = 0): ReadonlyMap<string, string> | undefined {
    const texts = new Map<string, string>();
    for (const { name, before, followers } of this.#changes.slice(count))
      if (followers.has(nameOf(key)) && !texts.has(name)) texts.set(name, before);
    return texts.size === 0 ? undefined : texts;
  }

  /** Returns the models that may have followed one of the contexts, by name. */
  followers(): ReadonlyMap<string, ModelKey> {
    return new Map(this.#changes.flatMap(({ followers }) => [...followers]));
  }

  async #text(name: string): Promise<string | undefined> {
    return (await undefinedIfNotFound('context', this.contexts.document(name)))?.bytes.toString();
  }
}
