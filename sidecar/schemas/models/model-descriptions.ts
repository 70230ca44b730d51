import { hash } from 'node:crypto';
import {
  type InputIssue,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
} from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { TaskFailedError, unlessTooCostly } from '../../shared/workers/errors.js';
import type { ModelVersion, NewModelVersion, PinnedReference } from '../../store/index.js';
import type { ModelDescription } from './accept-version.js';
import { type Cache, type ContentStore, createCache, getOrCreate } from './content-store.js';
import { coreContextUrl } from '../json-ld/core-context.js';
import type { ContextForm } from '../validation/tasks.js';
import { requireAcceptedSchema } from './errors.js';
import type { ServiceWorkers } from './model-tasks.js';

/** Caches descriptions of model versions; those that are not cached are created on request. */
export class ModelDescriptions {
  readonly #contents: ContentStore;
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<ModelDescription>;

  constructor(contents: ContentStore, workers: ServiceWorkers, cacheBytes: number) {
    this.#contents = contents;
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, sizeOf);
  }

  /** Caches the description that was created together with a version. */
  keep(version: ModelVersion, description: ModelDescription): void {
    this.#cache.set(contentKey(version), description);
  }

  /** Returns the description of a version. @throws TaskTooCostlyError, WorkersBusyError, TaskFailedError */
  async of(version: ModelVersion): Promise<ModelDescription> {
    return getOrCreate(this.#cache, contentKey(version), async () => {
      const [schema, documents] = await Promise.all([
        this.#contents.text(version.schema),
        Promise.all(
          version.references.map(async (one) => [one.uri, await this.#contents.text(one)] as const),
        ),
      ]);
      return requireAcceptedSchema(await this.#workers.run('describeModel', { schema, documents }));
    });
  }
}

/** A key that is equal for versions with the same schema and the same referenced documents, which are sorted by URI. */
export function contentKey({ schema, references }: VersionContent): string {
  return [schema.sha256, ...references.map(({ uri, sha256 }) => `${sha256} ${uri}`)].join('\n');
}

/** The SHA-256 of {@link contentKey}. */
export function contentHash(version: VersionContent): string {
  return hash('sha256', contentKey(version));
}

/** The {@link contentHash} that a version will have once it is stored. */
export function hashOfNew({ schema, references }: Pick<NewModelVersion, 'schema' | 'references'>): string {
  const sorted = [...references].sort(([one], [other]) => (one < other ? -1 : 1));
  const pinned = sorted.map(([uri, sha256]) => ({ uri, sha256 }));
  return contentHash({ schema: { sha256: hash('sha256', schema) }, references: pinned });
}

interface VersionContent {
  readonly schema: Pick<ModelVersion['schema'], 'sha256'>;
  readonly references: readonly Pick<PinnedReference, 'uri' | 'sha256'>[];
}

/** Estimates the size in bytes: two for each character of the texts. */
function sizeOf({ bundled, attributes, names }: ModelDescription): number {
  const all = [...names, ...attributes.map(({ name }) => name)];
  return 2 * all.reduce((sum, name) => sum + name.length, bundled.length);
}

/**
 * Returns the result of a task on a schema, or what `instead` returns if the schema takes too much time, memory or
 * depth.
 *
 * @throws what the task and `instead` throw
 */
export async function fallbackIfTooCostly<Result, Instead>(
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

/** An entity in key-values form that satisfies the schema, or why none was found in this form or in normalized form. */
export interface FoundExample {
  /** Without `@context`. */
  readonly example?: JsonObject;
  /** The form of its `@context`, and if it is `own`, the `@context`. */
  readonly contextForm?: ContextForm;
  readonly ownContext?: JsonValue | undefined;
  readonly reason?: string;
  readonly normalizedReason?: string;
}

/** Caches example entities of models; those that are not cached are generated on request. */
export class ModelExamples {
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<FoundExample>;

  constructor(workers: ServiceWorkers, cacheBytes: number) {
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, (found) => JSON.stringify(found).length * 4);
  }

  /**
   * Returns an example of a model.
   *
   * @param key equal for equal schemas
   * @param bundled text of the self-contained schema
   * @throws WorkersBusyError, TaskFailedError
   */
  async of(entityType: string, key: string, bundled: string): Promise<FoundExample> {
    return getOrCreate(this.#cache, `${entityType} ${key}`, () => this.#make(entityType, bundled));
  }

  async #make(entityType: string, schema: string): Promise<FoundExample> {
    const made = await fallbackIfTooCostly(
      this.#workers.run('makeExample', { schema, entityType, coreContext: coreContextUrl() }),
      () => undefined,
    );
    if (made === undefined) return without('Making an example is too costly with this schema.');
    const { contextForm } = made;
    const whole = parseJson(made.example) as JsonValue;
    const example = entityOf(whole);
    const [fault] = made.faults;
    if (example === undefined) return without(NO_OBJECT);
    if (fault !== undefined) return without(reasonOf(fault));
    const [normalizedFault] = made.normalizedFaults;
    const ownContext = isObject(whole) ? member(whole, '@context') : undefined;
    const found = { example, contextForm, ownContext };
    return normalizedFault === undefined ? found : { ...found, normalizedReason: reasonOf(normalizedFault) };
  }
}

function without(reason: string): FoundExample {
  return { reason, normalizedReason: reason };
}

const NO_OBJECT = 'No valid entity was found: the schema seems to allow no JSON object, which an entity is.';

/** Explains why the best example that was found is not valid. */
function reasonOf({ pointer, detail }: InputIssue): string {
  return `No valid entity was found. In the closest attempt, ${pointer === '' ? 'the whole' : pointer} ${detail}.`;
}

/** Removes `@context`, because that of the model is set instead, unless the schema accepts no other. */
function entityOf(example: JsonValue): JsonObject | undefined {
  if (!isObject(example)) return undefined;
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== '@context'));
}
