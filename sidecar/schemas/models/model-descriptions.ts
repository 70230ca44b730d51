import { TaskFailedError, unlessTooCostly } from '../../shared/workers/errors.js';
import type { ModelVersion } from '../../store/index.js';
import { type Cache, type Contents, createCache, made } from './contents.js';
import { unlessRefused } from './errors.js';
import type { ModelDescription } from './describe-model.js';
import type { ServiceWorkers } from './model-tasks.js';

/** Caches descriptions of model versions; others are made on request. */
export class ModelDescriptions {
  readonly #contents: Contents;
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<ModelDescription>;

  constructor(contents: Contents, workers: ServiceWorkers, cacheBytes: number) {
    this.#contents = contents;
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, sizeOf);
  }

  /** Caches the description that was made along with a version. */
  async keep(version: ModelVersion, description: ModelDescription): Promise<void> {
    await made(this.#cache, contentKey(version), async () => description);
  }

  /** The description of a version, if it is cached. */
  known(version: ModelVersion): ModelDescription | undefined {
    return this.#cache.get(contentKey(version));
  }

  /** @throws TaskTooCostlyError, WorkersBusyError, TaskFailedError */
  async of(version: ModelVersion): Promise<ModelDescription> {
    return made(this.#cache, contentKey(version), async () => {
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

/** In bytes: two for each character of its texts. */
function sizeOf({ bundled, attributes, names }: ModelDescription): number {
  const all = [...names, ...attributes.map(({ name }) => name)];
  return 2 * all.reduce((sum, name) => sum + name.length, bundled.length);
}

/**
 * The result of a task on a schema; what `instead` returns or throws if the schema takes too much time, memory or depth.
 *
 * @throws what the task and `instead` throw
 */
export async function unlessTooMuch<Result, Instead>(
  task: Promise<Result>,
  instead: () => Instead,
): Promise<Result | Instead> {
  try {
    return await unlessTooCostly(task, instead);
  } catch (error) {
    if (error instanceof TaskFailedError && error.cause instanceof RangeError) return instead();
    throw error;
  }
}
