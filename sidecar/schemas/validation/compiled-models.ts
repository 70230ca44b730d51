import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { prepareModel, type Model } from './model.js';

interface Prepared {
  readonly model: Model;
  /** Characters of its schema's text. */
  readonly characters: number;
}

/** Of the schemas of all compiled models together: what is made of them takes some forty times the memory. */
const MAX_MODELS_CHARACTERS = 4 * 1024 * 1024;

/** The least that one counts for, so that there are at most 64 models. */
const MIN_MODEL_CHARACTERS = MAX_MODELS_CHARACTERS / 64;

/** Compiled models of this worker. No schema is larger than a quarter of what is kept. */
const models = new LRUCache<string, Prepared>({
  maxSize: MAX_MODELS_CHARACTERS,
  sizeCalculation: ({ characters }) => Math.max(characters, MIN_MODEL_CHARACTERS),
});

/** The model that this worker has compiled under a key, if it is still kept. */
export function compiledModel(key: string, name: string): Model | undefined {
  return models.get(nameOf(key, name))?.model;
}

/**
 * Compiles a model, to be kept for entities.
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
