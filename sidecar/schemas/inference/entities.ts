import { type AttributeKind, KIND_OF_MEMBER, NO_OWN_ATTRIBUTES } from '../../ngsi-ld/members.js';
import { isArray, type JsonObject, type JsonValue, member, step, without } from '../../shared/json/json.js';
import { type Form, wrappedMemberOf } from '../../ngsi-ld/representation/form.js';
import { isFeature, unfoldFeature } from '../../ngsi-ld/representation/geojson.js';
import { readEntity, type Reading } from '../../ngsi-ld/representation/read-entity.js';
import type { Inference, Sample } from './inference.js';
import type { SampleFaults } from './samples.js';

/** Members that brokers write (clause 4.8): of an entity as it was read, not of the model. */
const WRITTEN_BY_BROKERS: ReadonlySet<string> = new Set(['createdAt', 'modifiedAt', 'deletedAt']);

interface EntitySampleOptions {
  /** Reference tokens that lead to the entity in the submitted document. */
  readonly tokens: readonly string[];
  /** `ngsi-ld`: any that the entity shows. */
  readonly form: 'ngsi-ld' | 'ngsiv2' | 'geojson';
  readonly model: string | undefined;
  /** False: faults do not keep an entity from counting, unless nothing of it can be read. */
  readonly isStrict: boolean;
}

/**
 * Adds any object, as validation shows it to a schema in key-values form: `@id` and `@type` by their usual names, typed
 * values (`{"@type": "DateTime", "@value": …}`) by what they hold, and each value of an attribute that has several datasets.
 * A type that is not the model's is added to `faults` instead.
 *
 * @param tokens reference tokens that lead to the object in the submitted document
 */
export function addKeyValues(
  submitted: JsonObject,
  tokens: readonly string[],
  inference: Inference,
  faults: SampleFaults,
): void {
  const { readings } = readEntity(submitted, { form: 'keyvalues' });
  const fault = inference.add(sampleOf(readings));
  if (fault !== undefined) faults.add([...tokens, ...readings[0].locate(['type'])], fault);
}

/**
 * Adds an entity in any representation (ETSI GS CIM 009, clause 4.5), or in that of NGSIv2: its attributes by their values,
 * further instances of one included. Faults of its structure are added to `faults` instead.
 */
export function addEntity(
  submitted: JsonObject,
  { tokens, form, model, isStrict }: EntitySampleOptions,
  inference: Inference,
  faults: SampleFaults,
): void {
  const isGeoJson = form === 'geojson' || (form === 'ngsi-ld' && model !== 'Feature' && isFeature(submitted));
  const feature = isGeoJson ? unfoldFeature(submitted) : undefined;
  const entity = feature?.entity ?? submitted;
  const place = (inner: readonly string[]) => [...tokens, ...(feature?.locate(inner) ?? inner)];
  const own = isStrict || feature?.isReadable === false ? (feature?.faults ?? []) : [];
  for (const fault of own) faults.add([...tokens, ...fault.tokens], fault.detail);
  if (feature?.isReadable === false) return;
  const reading = readEntity(entity, {
    ...(form === 'ngsiv2' && { form }),
    ...(model !== undefined && { model }),
  });
  const { readings } = reading;
  const found = isStrict ? reading.faults : [];
  for (const fault of found) faults.add(place(fault.tokens), fault.detail);
  if (found.length + own.length > 0) return;
  const [first] = readings;
  const kinds = reading.form === 'keyvalues' ? kindsShown(first.keyValues) : reading.kinds;
  const { keyValues, instances } = sampleOf(readings);
  const fault = inference.add({
    keyValues: without(keyValues, WRITTEN_BY_BROKERS),
    instances,
    kinds,
    // NGSIv2 shows the kind of few attributes, but the units of all.
    units: new Map(
      [...(reading.form === 'ngsiv2' ? Object.keys(entity) : kinds.keys())].map((name) => [
        name,
        unitsOf(member(entity, name), reading.form),
      ]),
    ),
  });
  if (fault !== undefined) faults.add(place(first.locate(['type'])), fault);
}

/** The readings of an object as one sample: the first, and what attributes have in the others. */
function sampleOf([first, ...others]: readonly [Reading, ...Reading[]]): Required<
  Pick<Sample, 'keyValues' | 'instances'>
> {
  return {
    keyValues: first.keyValues,
    instances: others.flatMap(({ attribute, keyValues }) => {
      const value = attribute === undefined ? undefined : member(keyValues, attribute);
      return attribute === undefined || value === undefined ? [] : [[attribute, value] as const];
    }),
  };
}

/**
 * The kinds of attributes whose key-values form wraps the value in an object (clause 4.5.4): it is the concise form as
 * well. The others' do not show.
 */
function kindsShown(keyValues: JsonObject): ReadonlyMap<string, AttributeKind> {
  return new Map(
    Object.entries(keyValues).flatMap(([name, value]) => {
      const kind = NO_OWN_ATTRIBUTES.has(name) ? undefined : KIND_OF_MEMBER.get(wrappedMemberOf(value) ?? '');
      return kind === undefined ? [] : [[name, kind] as const];
    }),
  );
}

/**
 * The unit codes of an attribute's instances (clause 4.5.2), in NGSIv2 from the metadata; undefined among them for an instance
 * without one.
 */
function unitsOf(attribute: JsonValue | undefined, form: Form): ReadonlySet<string | undefined> {
  const instances = isArray(attribute) ? attribute : [attribute];
  return new Set(
    instances.map((instance) => {
      const metadata = step(step(instance, 'metadata'), 'unitCode');
      const code = form === 'ngsiv2' ? step(metadata, 'value') : step(instance, 'unitCode');
      return typeof code === 'string' ? code : undefined;
    }),
  );
}
