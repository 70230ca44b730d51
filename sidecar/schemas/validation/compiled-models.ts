import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { prepareModel, type Model } from './model.js';

interface Prepared {
  readonly model: Model;
  /** Characters of its schema's text. */
  readonly characters: number;
}

/** Total length of the schemas of all compiled models, which take some forty times as much memory. */
const MAX_MODELS_CHARACTERS = 4 * 1024 * 1024;

/** The least that each model counts, so that there are at most 64. */
const MIN_MODEL_CHARACTERS = MAX_MODELS_CHARACTERS / 64;

/** Compiled models of this worker. No schema is larger than a quarter of the cache. */
const models = new LRUCache<string, Prepared>({
  maxSize: MAX_MODELS_CHARACTERS,
  sizeCalculation: ({ characters }) => Math.max(characters, MIN_MODEL_CHARACTERS),
});

/** The model that this worker has compiled under a key, if it is still cached. */
export function compiledModel(key: string, name: string): Model | undefined {
  return models.get(nameOf(key, name))?.model;
}

/**
 * Compiles a model and caches it.
 *
 * @param key the same key always means the same schema
 * @throws {SchemaRefusedError | RangeError} for a schema that cannot be used, which no stored one should be
 */
export function compileModel(key: string, name: string, schema: string): Model {
  const known = compiledModel(key, name);
  if (known !== undefined) return known;
  const model = prepareModel(name, parseJson(schema) as JsonObject);
  models.set(nameOf(key, name), { model, characters: schema.length });
  return model;
}

function nameOf(key: string, type: string): string {
  return `${key} ${type}`;
}
