import { featuresIn } from '../../ngsi-ld/representation/geojson.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { readJson } from '../../shared/json/strict-json.js';
import { addEntity, addKeyValues } from './entities.js';
import { SamplesRefusedError } from './errors.js';
import { Inference, type InferenceOptions } from './inference.js';
import { SampleFaults, samplesIn } from './samples.js';
import type { TaskAnswer } from '../../shared/task-answer.js';

export interface InferInput extends InferSchemaOptions {
  /** JSON: one sample, or an array of samples. */
  readonly text: string;
}

/** The text of the schema, or why there is none. */
export type InferOutcome = TaskAnswer<SamplesRefusedError['kind']>;

/** Tasks that run in a worker, because there may be many samples. */
export const inferenceTasks = {
  /** Infers the schema of samples; see `inferSchema`. */
  infer({ text, ...options }: InferInput): InferOutcome {
    // Any number is read, so that faults of numbers can be reported with the pointers of all of them.
    const read = readJson(text, { anyNumber: true });
    if ('unreadable' in read) return read;
    try {
      requireMembers(read.value as JsonValue);
      return { answer: JSON.stringify(inferSchema(read.value as JsonValue, options)) };
    } catch (error) {
      if (!(error instanceof SamplesRefusedError)) throw error;
      return { refused: { kind: error.kind, detail: error.message, errors: error.errors } };
    }
  },
};

/** Refuses samples without any attribute, because their schema would be of no use. @throws SamplesRefusedError */
function requireMembers(document: JsonValue): void {
  const samples = isArray(document) ? document : [document];
  const isEmpty = (sample: JsonValue) => isObject(sample) && Object.keys(sample).length === 0;
  if (samples.length === 0 || !samples.every(isEmpty)) return;
  const faults = new SampleFaults();
  faults.add([], 'must have a member: nothing can be inferred from empty objects');
  faults.throwIfAny();
}

export type InferenceTasks = typeof inferenceTasks;

/**
 * How samples are written: any JSON, such as key-values; or entities, in any representation of NGSI-LD, in that of
 * NGSIv2, or in GeoJSON. `ngsi-ld` also accepts the last two where they can be recognised.
 */
export type SampleForm = 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';

/** How samples are written, and how strictly entities are read. */
export interface InferSchemaOptions extends InferenceOptions {
  readonly form?: SampleForm;
  /** If false, an entity that breaks rules of its representation still counts, with the values that can be read. Default true. */
  readonly isStrict?: boolean | undefined;
}

/**
 * Infers a JSON Schema of draft 2020-12 from samples: the items of an array, or a single object.
 *
 * - It accepts every sample. Entities are accepted in key-values form, as made by validation.
 * - Neither the order of samples and members nor repetition matters.
 * - With more samples, it only widens: it accepts everything that it accepted before, as far as that was described; a
 *   member that it did not describe may be described now.
 * - It does not exceed the limits of schemas.
 *
 * @throws {SamplesRefusedError} naming what is not a sample or an entity, or not of the model's type
 * @throws {SamplesRefusedError} if the schema would exceed the limits of schemas
 */
export function inferSchema(
  document: JsonValue,
  { form = 'keyvalues', isStrict = true, ...options }: InferSchemaOptions = {},
): JsonObject {
  const inference = new Inference(options);
  const faults = new SampleFaults();
  const features = ['ngsi-ld', 'geojson'].includes(form) ? featuresIn(document) : undefined;
  const base = features === undefined ? [] : ['features'];
  for (const { sample, tokens } of samplesIn(features ?? document, base)) {
    if (form === 'keyvalues') addKeyValues(sample, tokens, inference, faults);
    else addEntity(sample, { tokens, form, isStrict, model: options.model }, inference, faults);
  }
  faults.throwIfAny();
  return inference.schema();
}
