import { type InputIssue, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { parseJson, writeJson } from '../../shared/json/lossless-json.js';
import { type Cache, createCache, made } from './contents.js';
import { unlessTooMuch } from './model-descriptions.js';
import type { ServiceWorkers } from './model-tasks.js';

/** An entity in key-values form that satisfies the schema, or why none was found in this form or in normalized form. */
export interface FoundExample {
  readonly example?: JsonObject;
  readonly reason?: string;
  readonly normalizedReason?: string;
}

/** Caches example entities of models; others are made on request. */
export class ModelExamples {
  readonly #workers: ServiceWorkers;
  readonly #cache: Cache<FoundExample>;

  constructor(workers: ServiceWorkers, cacheBytes: number) {
    this.#workers = workers;
    this.#cache = createCache(cacheBytes, (found) => writeJson(found).length * 4);
  }

  /**
   * @param key the same for the same schema
   * @param bundled text of the self-contained schema
   * @throws WorkersBusyError, TaskFailedError
   */
  async of(entityType: string, key: string, bundled: string): Promise<FoundExample> {
    return made(this.#cache, `${entityType} ${key}`, () => this.#make(entityType, bundled));
  }

  async #make(entityType: string, schema: string): Promise<FoundExample> {
    const made = await unlessTooMuch(
      this.#workers.run('makeExample', { schema, entityType }),
      () => undefined,
    );
    if (made === undefined) return without('The schema makes looking for one too costly.');
    const example = entityOf(parseJson(made.example) as JsonValue);
    const [fault] = made.faults;
    if (example === undefined) return without(NO_OBJECT);
    if (fault !== undefined) return without(reasonOf(fault));
    const [normalizedFault] = made.normalizedFaults;
    return normalizedFault === undefined
      ? { example }
      : { example, normalizedReason: reasonOf(normalizedFault) };
  }
}

function without(reason: string): FoundExample {
  return { reason, normalizedReason: reason };
}

const NO_OBJECT = 'No valid entity was found: the schema seems to allow no JSON object, which an entity is.';

/** Why the best example that was found is not valid. */
function reasonOf({ pointer, detail }: InputIssue): string {
  return `No valid entity was found. Of the nearest that was tried, ${pointer === '' ? 'the whole' : pointer} ${detail}.`;
}

/** Drops `@context`, whatever the schema says about it: the model's own is set instead. */
function entityOf(example: JsonValue): JsonObject | undefined {
  if (!isObject(example)) return undefined;
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== '@context'));
}
