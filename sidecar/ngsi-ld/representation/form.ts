import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { KIND_OF_MEMBER, kindNamed, NO_OWN_ATTRIBUTES, WRAPPED_KINDS } from '../members.js';
import { isGeometry } from './geometry.js';
import { areInstances, instanceOf } from './instances.js';
import { isPlainMember } from './value-checks.js';
import { isNgsiV2 } from './ngsiv2-shape.js';
import { isUri } from '../names.js';

/**
 * The representations of an entity (clauses 4.5.1 to 4.5.4); key-values is what the standard calls simplified. `ngsiv2` is the
 * normalized one of NGSIv2.
 */
export type Form = 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2';

/** The forms in which entities are submitted; an entity in GeoJSON (clause 4.5.16) has attributes in another form within. */
export type SubmittedForm = Form | 'geojson';

/** What an attribute says about its entity's form; `nothing` where the forms do not differ. */
type Evidence = 'normalized' | 'foreign' | 'concise' | 'maybe-concise' | 'value' | 'nothing';

/** The members of an entity, taken once. */
export type Entries = readonly (readonly [string, JsonValue])[];

/**
 * The form that an entity is in, by its attributes:
 * - normalized when each has a type, either that of an attribute or (with a `value`) a foreign one: a kind of attribute was
 *   meant;
 * - key-values when none looks like an attribute. An object with a foreign type is a value then, with or without `value`;
 *   a geometry always is one;
 * - NGSIv2 when all attributes can be, and some show that they are;
 * - concise otherwise, which any mixture is: brokers take both.
 *
 * An object that has nothing but a languageMap, vocab or json is the same in concise and key-values form. One that has a
 * `value` and nothing else of an attribute is taken for concise, but may be data; see {@link otherForms}.
 */
export function guessForm(entity: Entries): Form {
  const found = evidenceIn(entity);
  if (found.has('concise')) return 'concise';
  if ((found.has('foreign') || found.has('maybe-concise')) && isNgsiV2(entity)) return 'ngsiv2';
  const isPlain = found.has('value') || found.has('nothing');
  if (found.has('normalized')) return isPlain || found.has('maybe-concise') ? 'concise' : 'normalized';
  if (found.has('maybe-concise')) return 'concise';
  return isPlain ? 'keyvalues' : 'normalized';
}

/**
 * Forms beside the guessed one that the entity may be meant in, the likeliest first. None where an attribute says its kind,
 * which data does not do.
 */
export function otherForms(entity: Entries, guess: Form): readonly Form[] {
  if (evidenceIn(entity).has('normalized')) return [];
  return guess === 'keyvalues' ? ['concise'] : ['keyvalues'];
}

/**
 * The attributes of an entity of which each may be concise or a value, when none of the others shows which it is. Empty when
 * one does.
 */
export function ambiguousAttributes(entity: Entries): readonly string[] {
  const found = evidenceIn(entity);
  if (found.has('concise') || found.has('normalized')) return [];
  return entity.flatMap(([name, value]) =>
    !NO_OWN_ATTRIBUTES.has(name) && evidenceOf(value) === 'maybe-concise' ? [name] : [],
  );
}

function evidenceIn(entity: Entries): ReadonlySet<Evidence> {
  const found = new Set<Evidence>();
  for (const [name, value] of entity) if (!NO_OWN_ATTRIBUTES.has(name)) found.add(evidenceOf(value));
  return found;
}

function evidenceOf(submitted: JsonValue): Evidence {
  if (isArray(submitted)) {
    if (!areInstances(submitted)) return 'value';
    return submitted.some((item) => instanceOf(item).how === 'inferred') ? 'concise' : 'normalized';
  }
  // What nearly all attributes are; it saves the time for the rest.
  if (isObject(submitted) && kindNamed(submitted['type']) !== undefined) return 'normalized';
  const instance = instanceOf(submitted);
  switch (instance.how) {
    case 'typed':
      return 'normalized';
    case 'foreign':
      return instance.member === undefined ? 'value' : 'foreign';
    case 'inferred':
      if (wrappedMemberOf(submitted) !== undefined) return 'nothing';
      return isSurelyConcise(instance.object, instance.member) ? 'concise' : 'maybe-concise';
    case 'bare':
      return 'value';
  }
}

/** Whether an object without a type has more of an attribute than a member called `value`, as data may have. */
function isSurelyConcise(object: JsonObject, valueMember: string): boolean {
  const value = member(object, valueMember);
  if (valueMember === 'object' && [value].flat().every(isUri)) return true;
  if (valueMember.endsWith('List') && isArray(value)) return true;
  return Object.entries(object).some(([name, item]) => {
    if (name === valueMember) return isGeometry(item);
    return isPlainMember(name) || ['normalized', 'concise'].includes(evidenceOf(item));
  });
}

/** The only member of an object, if key-values wrap a value in it (clause 4.5.4). */
export function wrappedMemberOf(value: JsonValue): string | undefined {
  if (!isObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  const kind = name === undefined || others.length > 0 ? undefined : KIND_OF_MEMBER.get(name);
  return kind !== undefined && WRAPPED_KINDS.has(kind) ? name : undefined;
}
