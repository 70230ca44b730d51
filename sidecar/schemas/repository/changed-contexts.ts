import type { ModelKey } from '../../store/records.js';
import { ifThere, type SchemaService } from '../models/index.js';

/** Names a model in a set. */
export function nameOf({ domain, name }: ModelKey): string {
  return `${domain}/${name}`;
}

interface Change {
  readonly name: string;
  /** Its text from before. */
  readonly before: string;
  /** The models that may have followed it then, by their names. */
  readonly followers: ReadonlyMap<string, ModelKey>;
}

/** The contexts of the service that are changed one after the other, custom and generated ones. */
export class ChangedContexts {
  readonly #contexts: Pick<SchemaService['contexts'], 'document' | 'followers'>;
  readonly #changes: Change[] = [];

  constructor(contexts: Pick<SchemaService['contexts'], 'document' | 'followers'>) {
    this.#contexts = contexts;
  }

  /** How many changes there were so far. */
  get count(): number {
    return this.#changes.length;
  }

  /** Does what may change a context, which need not be there. @param name of a custom or generated context */
  async during<Result>(name: string, write: () => Promise<Result>): Promise<Result> {
    const before = await this.#text(name);
    const result = await write();
    if (before === undefined || before === (await this.#text(name))) return result;
    const models = await this.#contexts.followers(name);
    this.#changes.push({ name, before, followers: new Map(models.map((key) => [nameOf(key), key])) });
    return result;
  }

  /**
   * The texts from before, by name, of the contexts that a model may have followed; undefined where none has changed.
   *
   * @param count of changes that are left out, since they were made before something
   */
  before(key: ModelKey, count = 0): ReadonlyMap<string, string> | undefined {
    const texts = new Map<string, string>();
    for (const { name, before, followers } of this.#changes.slice(count))
      if (followers.has(nameOf(key)) && !texts.has(name)) texts.set(name, before);
    return texts.size === 0 ? undefined : texts;
  }

  /** The models that may have followed one of the contexts, by their names. */
  followers(): ReadonlyMap<string, ModelKey> {
    return new Map(this.#changes.flatMap(({ followers }) => [...followers]));
  }

  async #text(name: string): Promise<string | undefined> {
    const found = await ifThere('context', this.#contexts.document(name));
    return found === undefined || found.kind === 'domain' ? undefined : found.bytes.toString();
  }
}
