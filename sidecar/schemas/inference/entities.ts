import { type AttributeKind, KIND_BY_MEMBER, NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import {
  isArray,
  type JsonObject,
  type JsonValue,
  member,
  childAt,
  omitMembers,
} from '../../shared/json/json.js';
import { type Form, wrappedMemberOf } from '../../ngsi-ld/representation/form.js';
import { isFeature, entityFromFeature } from '../../ngsi-ld/representation/geojson.js';
import { readEntity, type Reading } from '../../ngsi-ld/representation/read-entity.js';
import type { Inference, Sample } from './inference.js';
import type { SampleFaults } from './samples.js';

/** Members that brokers set (clause 4.8): they belong to an entity as retrieved, not to the model. */
const WRITTEN_BY_BROKERS: ReadonlySet<string> = new Set(['createdAt', 'modifiedAt', 'deletedAt']);

interface EntitySampleOptions {
  /** Reference tokens that lead to the entity in the submitted document. */
  readonly tokens: readonly string[];
  /** `ngsi-ld`: any representation, as recognised from the entity. */
  readonly form: 'ngsi-ld' | 'ngsiv2' | 'geojson';
  readonly model: string | undefined;
  /** If false, an entity with faults still counts, unless it cannot be read at all. */
  readonly isStrict: boolean;
}

/**
 * Adds any object, converted like validation converts key-values for a schema: `@id` and `@type` become `id` and
 * `type`, typed values (`{"@type": "DateTime", "@value": …}`) become what they contain, and every value of an attribute
 * with several datasets is included. If the type is not that of the model, adds a fault instead.
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
 * Adds an entity in any representation (ETSI GS CIM 009, clause 4.5), or that of NGSIv2: the values of its attributes,
 * including those of further instances. If its structure has faults, adds those instead.
 */
export function addEntity(
  submitted: JsonObject,
  { tokens, form, model, isStrict }: EntitySampleOptions,
  inference: Inference,
  faults: SampleFaults,
): void {
  const isGeoJson = form === 'geojson' || (form === 'ngsi-ld' && model !== 'Feature' && isFeature(submitted));
  const feature = isGeoJson ? entityFromFeature(submitted) : undefined;
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
    keyValues: omitMembers(keyValues, WRITTEN_BY_BROKERS),
    instances,
    kinds,
    // NGSIv2 reveals the kind of few attributes, but the units of all.
    units: new Map(
      [...(reading.form === 'ngsiv2' ? Object.keys(entity) : kinds.keys())].map((name) => [
        name,
        unitsOf(member(entity, name), reading.form),
      ]),
    ),
  });
  if (fault !== undefined) faults.add(place(first.locate(['type'])), fault);
}

/** Combines the readings of an object into one sample: the first, and the values of attributes in the others. */
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
 * Returns the kinds of attributes whose key-values form wraps the value in an object (clause 4.5.4), which is also the
 * concise form. The kinds of other attributes cannot be recognised.
 */
function kindsShown(keyValues: JsonObject): ReadonlyMap<string, AttributeKind> {
  return new Map(
    Object.entries(keyValues).flatMap(([name, value]) => {
      const kind = NON_ATTRIBUTE_MEMBERS.has(name)
        ? undefined
        : KIND_BY_MEMBER.get(wrappedMemberOf(value) ?? '');
      return kind === undefined ? [] : [[name, kind] as const];
    }),
  );
}

/**
 * Returns the unit codes of an attribute's instances (clause 4.5.2), in NGSIv2 from the metadata; includes undefined if
 * an instance has none.
 */
function unitsOf(attribute: JsonValue | undefined, form: Form): ReadonlySet<string | undefined> {
  const instances = isArray(attribute) ? attribute : [attribute];
  return new Set(
    instances.map((instance) => {
      const metadata = childAt(childAt(instance, 'metadata'), 'unitCode');
      const code = form === 'ngsiv2' ? childAt(metadata, 'value') : childAt(instance, 'unitCode');
      return typeof code === 'string' ? code : undefined;
    }),
  );
}
