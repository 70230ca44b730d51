import { parseJson } from '../../sidecar/shared/json/lossless-json.js';
import { isNumber, type JsonObject } from '../../sidecar/shared/json/json.js';
import { isResourceName } from '../../sidecar/shared/resource-name.js';
import { type Entries, guessForm as guessEntityForm } from '../../sidecar/ngsi-ld/representation/form.js';
import { readEntity } from '../../sidecar/ngsi-ld/representation/read-entity.js';

/** Prepares samples before a schema is inferred from them. */

type Json = Readonly<Record<string, unknown>>;

/** The form of samples, as the API calls it. */
export type SampleForm = 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';

/** Returns the samples in a text: one object, or a list of them. @throws SyntaxError; undefined if there are none */
export function samplesOf(text: string): readonly Json[] | undefined {
  const value = parseJson(text);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every(isObject) ? list : undefined;
}

/** Guesses the form of samples from their attributes, as the gateway does when it validates them. */
export function detectForm(samples: readonly Json[]): SampleForm {
  if (samples.every(({ type, geometry }) => type === 'Feature' && geometry !== undefined)) return 'geojson';
  const forms = samples.map((sample) => guessEntityForm(Object.entries(sample) as Entries));
  if (forms.some((form) => form === 'normalized' || form === 'concise')) return 'ngsi-ld';
  return forms.includes('ngsiv2') ? 'ngsiv2' : 'keyvalues';
}

/** Returns the type of the first sample, if it can be the name of a model. */
export function modelName(samples: readonly Json[]): string | undefined {
  const [first] = samples;
  const type = first?.['type'] ?? first?.['@type'];
  const own = type === 'Feature' ? (first?.['properties'] as Json | undefined)?.['type'] : type;
  const [name] = [own].flat();
  return typeof name === 'string' && isResourceName(name) ? name : undefined;
}

/**
 * Converts a sample to the form that the schema describes, as inference reads it (NGSI-LD § 4.5.4). Undefined for
 * GeoJSON, and for several instances of an attribute, which have no single value; the sample cannot be an example then.
 */
export function plainSample(sample: Json, form: SampleForm): Json | undefined {
  if (form === 'geojson') return undefined;
  const read = readEntity(sample as JsonObject, form === 'ngsi-ld' ? {} : { form });
  return read.readings.length > 1 ? undefined : read.readings[0].keyValues;
}

/** Adds a sample to the examples of a schema. */
export function withExample(schema: unknown, sample: Json | undefined): unknown {
  if (sample === undefined || !isObject(schema)) return schema;
  const { examples } = schema;
  return { ...schema, examples: [...(Array.isArray(examples) ? (examples as unknown[]) : []), sample] };
}

/** Returns the examples in a schema. */
export function examplesOf(schema: unknown): readonly unknown[] {
  const examples = isObject(schema) ? schema['examples'] : undefined;
  return Array.isArray(examples) ? examples : [];
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber(value);
}
