import { SchemaTooCostlyError } from '../json-schema/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { makeExample } from '../json-schema/schema-work.js';
import { TaskFailedError } from '../../shared/workers/errors.js';
import { BoundedCache } from './bounded-cache.js';
import type { ServiceWorkers } from './schema-intake.js';

/** An entity in key-values form; undefined when none that satisfies the schema was found. */
interface FoundExample {
  readonly example: JsonObject | undefined;
}

/** Example entities of models, made when first asked for. */
export class ModelExamples {
  readonly #workers: ServiceWorkers;
  readonly #cache: BoundedCache<FoundExample>;

  constructor(workers: ServiceWorkers, cacheBytes: number) {
    this.#workers = workers;
    this.#cache = new BoundedCache(cacheBytes, ({ example }) => JSON.stringify(example ?? null).length * 4);
  }

  /**
   * @param key the same for the same schema
   * @param bundled text of the self-contained schema
   * @throws WorkersBusyError, TaskFailedError
   */
  async of(entityType: string, key: string, bundled: string): Promise<JsonObject | undefined> {
    const found = await this.#cache.getOrMake(`${entityType} ${key}`, async () => ({
      example: await this.#make(entityType, JSON.parse(bundled) as JsonObject),
    }));
    return found.example;
  }

  async #make(entityType: string, schema: JsonObject): Promise<JsonObject | undefined> {
    try {
      const { example, faults } = await makeExample({ schema, entityType }, this.#workers);
      return faults.length === 0 ? entityOf(example) : undefined;
    } catch (error) {
      if (isTooMuch(error)) return undefined;
      throw error;
    }
  }
}

/** Whether work on a schema failed because of the schema: too costly, or too deep for the stack. */
export function isTooMuch(error: unknown): boolean {
  return (
    error instanceof SchemaTooCostlyError ||
    (error instanceof TaskFailedError && error.cause instanceof RangeError)
  );
}

/** What a schema says about `@context` is overruled: what the model's entities have there is known. */
function entityOf(example: JsonValue): JsonObject | undefined {
  if (!isObject(example)) return undefined;
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== '@context'));
}
