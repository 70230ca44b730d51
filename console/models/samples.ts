import { parseJson } from '../../sidecar/shared/json/lossless-json.js';
import { isNumber } from '../../sidecar/shared/json/json.js';
import { isResourceName } from '../../sidecar/shared/resource-name.js';

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

/** Guesses the form of samples from their attributes. */
export function guessForm(samples: readonly Json[]): SampleForm {
  if (samples.every(({ type, geometry }) => type === 'Feature' && geometry !== undefined)) return 'geojson';
  const attributes = samples.flatMap((sample) =>
    Object.entries(sample)
      .filter(([name]) => !['id', '@id', 'type', '@type', '@context', 'scope'].includes(name))
      .map(([, value]) => value)
      .filter(isObject),
  );
  if (attributes.some(({ type }) => typeof type === 'string' && KINDS.has(type))) return 'ngsi-ld';
  if (attributes.some((one) => 'value' in one && 'metadata' in one)) return 'ngsiv2';
  if (attributes.some((one) => 'value' in one && typeof one['type'] === 'string' && !isGeometry(one)))
    return 'ngsiv2';
  return attributes.some((one) => VALUES.some((name) => name in one) && !('type' in one))
    ? 'ngsi-ld'
    : 'keyvalues';
}

const KINDS: ReadonlySet<string> = new Set(
  ['Property', 'Relationship', 'GeoProperty', 'LanguageProperty', 'VocabProperty', 'JsonProperty'].concat([
    'ListProperty',
    'ListRelationship',
  ]),
);

/** The members that hold the value of an attribute, one for each kind (NGSI-LD § 4.5.4). */
const VALUES = ['value', 'object', 'languageMap', 'vocab', 'json', 'valueList', 'objectList'] as const;

function isGeometry(value: Json): boolean {
  return 'coordinates' in value;
}

/** Returns the type of the first sample, if it can be the name of a model. */
export function nameFor(samples: readonly Json[]): string | undefined {
  const [first] = samples;
  const type = first?.['type'] ?? first?.['@type'];
  const own = type === 'Feature' ? (first?.['properties'] as Json | undefined)?.['type'] : type;
  const [name] = [own].flat();
  return typeof name === 'string' && isResourceName(name) ? name : undefined;
}

/**
 * Converts a sample to the form that the schema describes, with the plain values of its attributes (NGSI-LD § 4.5.4). Undefined
 * if part of it has no plain value; it cannot be an example then.
 */
export function plainSample(sample: Json, form: SampleForm): Json | undefined {
  if (form === 'geojson') return undefined;
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sample)) {
    if (name === '@context') continue;
    if (form === 'keyvalues' || !isObject(value)) plain[name] = value;
    else {
      const member = VALUES.find((one) => one in value);
      if (member === undefined) return undefined;
      plain[name] = value[member];
    }
  }
  return form !== 'keyvalues' && Object.values(plain).some((one) => isListOfAttributes(one))
    ? undefined
    : plain;
}

/** Several instances of an attribute, one per dataset, have no plain value that a schema could describe. */
function isListOfAttributes(value: unknown): boolean {
  return Array.isArray(value) && value.some((one) => isObject(one) && KINDS.has(String(one['type'])));
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
