import type { ModelVersion } from '../store/records.js';
import { BoundedCache } from './bounded-cache.js';
import type { Contents } from './contents.js';
import type { ModelDescription } from './model-tasks.js';
import { unlessRefused } from './refusals.js';
import type { ServiceWorkers } from './schema-intake.js';

/** Descriptions of model versions: what is not at hand is made when first asked for. */
export class ModelDescriptions {
  readonly #contents: Contents;
  readonly #workers: ServiceWorkers;
  readonly #cache: BoundedCache<ModelDescription>;

  constructor(contents: Contents, workers: ServiceWorkers, cacheBytes: number) {
    this.#contents = contents;
    this.#workers = workers;
    this.#cache = new BoundedCache(cacheBytes, weightOf);
  }

  /** Takes in what was found out when the version was made. */
  async keep(version: ModelVersion, description: ModelDescription): Promise<void> {
    await this.#cache.getOrMake(contentKey(version), async () => description);
  }

  /** @throws TaskTooCostlyError, WorkersBusyError, TaskFailedError */
  async of(version: ModelVersion): Promise<ModelDescription> {
    return this.#cache.getOrMake(contentKey(version), async () => {
      const pinned = version.references.map(
        async (reference) => [reference.uri, await this.#contents.text(reference)] as const,
      );
      const [schema, documents] = await Promise.all([
        this.#contents.text(version.schema),
        Promise.all(pinned),
      ]);
      return unlessRefused(await this.#workers.run('describeModel', { schema, documents }), '');
    });
  }
}

/** The same for versions whose schemas, with all that they refer to, are the same. */
export function contentKey({ schema, references }: ModelVersion): string {
  return [schema.sha256, ...references.map(({ uri, sha256 }) => `${sha256} ${uri}`)].join('\n');
}

/** Bytes of the texts in it, at two for a character. */
function weightOf({ bundled, attributes, names }: ModelDescription): number {
  const all = [...names, ...attributes.map(({ name }) => name)];
  return 2 * all.reduce((sum, name) => sum + name.length, bundled.length);
}
