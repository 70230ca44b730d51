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

/** Tasks that run in a worker because there may be many samples. */
export const inferenceTasks = {
  /** The schema of samples; see `inferSchema`. */
  infer({ text, ...options }: InferInput): InferOutcome {
    // What is wrong with numbers is reported with the pointers of all of them.
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

/** A schema without any attribute is not what anybody wants to know. @throws SamplesRefusedError */
function requireMembers(document: JsonValue): void {
  const samples = isArray(document) ? document : [document];
  const isEmpty = (sample: JsonValue) => isObject(sample) && Object.keys(sample).length === 0;
  if (samples.length === 0 || !samples.every(isEmpty)) return;
  const faults = new SampleFaults();
  faults.add([], 'must have a member: of empty objects there is nothing to infer');
  faults.throwIfAny();
}

export type InferenceTasks = typeof inferenceTasks;

/**
 * How samples are written: any JSON, such as key-values; or entities, in any representation of NGSI-LD, in that of NGSIv2, or
 * in GeoJSON. `ngsi-ld` takes the last two as well where they show.
 */
export type SampleForm = 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';

export interface InferSchemaOptions extends InferenceOptions {
  readonly form?: SampleForm;
  /** False: an entity that breaks rules of its representation counts by the values that can be read. True when not given. */
  readonly isStrict?: boolean | undefined;
}

/**
 * A JSON Schema of draft 2020-12 from samples: the items of an array, or a single object.
 *
 * - It accepts every sample. Entities are accepted in key-values form, as validation makes it.
 * - Neither the order of samples and members nor repetition makes a difference.
 * - With more samples it only widens: it accepts all that it accepted before, as far as it had been described; a member
 *   of which it said nothing may be described now.
 * - It is within the limits of schemas.
 *
 * @throws {SamplesRefusedError} naming what is not a sample or an entity, or not of the model's type
 * @throws {SamplesRefusedError} when the schema would be larger than a schema may be
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
