import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { KIND_BY_MEMBER, kindOfType, NON_ATTRIBUTE_MEMBERS, WRAPPED_KINDS } from '../members.js';
import { isGeometry } from './geometry.js';
import { areInstances, instanceOf } from './instances.js';
import { isMetadataMember } from './value-checks.js';
import { isNgsiV2 } from './ngsiv2-shape.js';
import { isUri } from '../names.js';

/**
 * The representations of an entity (clauses 4.5.1 to 4.5.4); the standard calls key-values simplified. `ngsiv2` is the
 * normalized representation of NGSIv2.
 */
export type Form = 'normalized' | 'concise' | 'keyvalues' | 'ngsiv2';

/**
 * The forms in which entities are submitted; in a GeoJSON entity (clause 4.5.16), the attributes are in one of the
 * other forms.
 */
export type SubmittedForm = Form | 'geojson';

/** What an attribute reveals about the form of its entity; `nothing` if it looks the same in all forms. */
type Evidence = 'normalized' | 'foreign' | 'concise' | 'maybe-concise' | 'value' | 'nothing';

/** The members of an entity, listed only once. */
export type Entries = readonly (readonly [string, JsonValue])[];

/**
 * Guesses the form of an entity from its attributes:
 * - normalized if each has a type, either that of an attribute or (with a `value`) a foreign one, which was meant as an
 *   attribute type;
 * - key-values if none looks like an attribute. In this case, an object with a foreign type is a value, with or without
 *   `value`; a geometry always is a value;
 * - NGSIv2 if all attributes can be in that form, and some certainly are;
 * - concise otherwise, including any mixture: brokers accept both.
 *
 * An object that has only a languageMap, vocab or json is the same in concise and key-values form. An object that has a
 * `value` and no other member of an attribute is taken as concise, but may be data; see {@link otherForms}.
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
 * Returns other forms that may be meant instead of the guessed one, most likely first. None if an attribute states its
 * kind, which data does not.
 */
export function otherForms(entity: Entries, guess: Form): readonly Form[] {
  if (evidenceIn(entity).has('normalized')) return [];
  return guess === 'keyvalues' ? ['concise'] : ['keyvalues'];
}

/** Returns the attributes that may be either concise or values, if no other attribute shows which. Empty if one does. */
export function ambiguousAttributes(entity: Entries): readonly string[] {
  const found = evidenceIn(entity);
  if (found.has('concise') || found.has('normalized')) return [];
  return entity.flatMap(([name, value]) =>
    !NON_ATTRIBUTE_MEMBERS.has(name) && evidenceOf(value) === 'maybe-concise' ? [name] : [],
  );
}

function evidenceIn(entity: Entries): ReadonlySet<Evidence> {
  const found = new Set<Evidence>();
  for (const [name, value] of entity) if (!NON_ATTRIBUTE_MEMBERS.has(name)) found.add(evidenceOf(value));
  return found;
}

function evidenceOf(submitted: JsonValue): Evidence {
  if (isArray(submitted)) {
    if (!areInstances(submitted)) return 'value';
    return submitted.some((item) => instanceOf(item).how === 'inferred') ? 'concise' : 'normalized';
  }
  // A shortcut for the case of nearly all attributes.
  if (isObject(submitted) && kindOfType(submitted['type']) !== undefined) return 'normalized';
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

/**
 * Whether an object without a type has more in common with an attribute than a member called `value`, which data may
 * also have.
 */
function isSurelyConcise(object: JsonObject, valueMember: string): boolean {
  const value = member(object, valueMember);
  if (valueMember === 'object' && [value].flat().every(isUri)) return true;
  if (valueMember.endsWith('List') && isArray(value)) return true;
  return Object.entries(object).some(([name, item]) => {
    if (name === valueMember) return isGeometry(item);
    return isMetadataMember(name) || ['normalized', 'concise'].includes(evidenceOf(item));
  });
}

/** Returns the only member of an object if key-values wrap a value in it (clause 4.5.4). */
export function wrappedMemberOf(value: JsonValue): string | undefined {
  if (!isObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  const kind = name === undefined || others.length > 0 ? undefined : KIND_BY_MEMBER.get(name);
  return kind !== undefined && WRAPPED_KINDS.has(kind) ? name : undefined;
}
