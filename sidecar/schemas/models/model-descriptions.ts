import { TaskFailedError } from '../../shared/workers/errors.js';
import { unlessTooCostly } from '../../shared/workers/too-costly.js';
import type { ModelVersion } from '../../store/records.js';
import { type Cache, type Contents, createCache, made } from './contents.js';
import { unlessRefused } from './errors.js';
import type { ModelDescription } from './describe-model.js';
import type { ServiceWorkers } from './model-tasks.js';

/** Descriptions of model versions: what is not at hand is made when first asked for. */
export class ModelDescriptions {
  readonly #contents: Contents;
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<ModelDescription>;

  constructor(contents: Contents, workers: ServiceWorkers, cacheBytes: number) {
    this.#contents = contents;
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, sizeOf);
  }

  /** Takes in what was found out when the version was made. */
  async keep(version: ModelVersion, description: ModelDescription): Promise<void> {
    await made(this.#cache, contentKey(version), async () => description);
  }

  /** That of a version, where it is at hand. */
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

/** Bytes of the texts in it, at two for a character. */
function sizeOf({ bundled, attributes, names }: ModelDescription): number {
  const all = [...names, ...attributes.map(({ name }) => name)];
  return 2 * all.reduce((sum, name) => sum + name.length, bundled.length);
}

/**
 * The result of a task on a schema. For a schema that is too much for it, in time, memory or depth, what `instead` returns or throws.
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
