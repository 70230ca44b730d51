import type { AttributeKind } from '../../ngsi-ld/attribute-kinds.js';
import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/entity-members.js';
import { wrappedMemberOf } from '../../ngsi-ld/representation/form.js';
import { readEntity } from '../../ngsi-ld/representation/read-entity.js';
import { KIND_OF_MEMBER } from '../../ngsi-ld/value-members.js';
import { type Inference, without } from './inference.js';
import type { SampleFaults } from './samples.js';

/** Members that brokers write (clause 4.8): of an entity as it was read, not of the model. */
const WRITTEN_BY_BROKERS: ReadonlySet<string> = new Set(['createdAt', 'modifiedAt', 'deletedAt']);

export interface EntitySampleOptions {
  /** Reference tokens that lead to the entity in the submitted document. */
  readonly tokens: readonly string[];
  readonly model: string | undefined;
}

/**
 * Adds an entity in any representation (ETSI GS CIM 009, clause 4.5): its attributes by their values, further instances
 * of one included. Faults of its structure are added to `faults` instead.
 */
export function addEntity(
  entity: JsonObject,
  { tokens, model }: EntitySampleOptions,
  inference: Inference,
  faults: SampleFaults,
): void {
  const reading = readEntity(entity, model === undefined ? {} : { model });
  const { faults: found, readings } = reading;
  for (const fault of found) faults.add([...tokens, ...fault.tokens], fault.detail);
  if (found.length > 0) return;
  const [first, ...others] = readings;
  const kinds = reading.form === 'keyvalues' ? kindsShown(first.keyValues) : reading.kinds;
  const fault = inference.add({
    keyValues: without(first.keyValues, WRITTEN_BY_BROKERS),
    instances: others.flatMap(({ attribute, keyValues }) => {
      const value = attribute === undefined ? undefined : member(keyValues, attribute);
      return attribute === undefined || value === undefined ? [] : [[attribute, value] as const];
    }),
    kinds,
    units: new Map([...kinds.keys()].map((name) => [name, unitsOf(member(entity, name))])),
  });
  if (fault !== undefined) faults.add([...tokens, ...first.locate(['type'])], fault);
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

/** The unit codes of an attribute's instances (clause 4.5.2); undefined among them for an instance without one. */
function unitsOf(attribute: JsonValue | undefined): ReadonlySet<string | undefined> {
  const instances = isArray(attribute) ? attribute : [attribute];
  return new Set(
    instances.map((instance) => {
      const code = isObject(instance) ? member(instance, 'unitCode') : undefined;
      return typeof code === 'string' ? code : undefined;
    }),
  );
}
