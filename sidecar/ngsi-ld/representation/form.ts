import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { NO_OWN_ATTRIBUTES } from '../entity-members.js';
import { isGeometry } from './geometry.js';
import { areInstances, instanceOf } from './instances.js';
import { isPlainMember } from './member-checks.js';
import { isUri } from '../names.js';
import { KIND_OF_MEMBER, WRAPPED_KINDS, kindNamed } from '../value-members.js';

/** The representations of an entity (clauses 4.5.1 to 4.5.4); key-values is what the standard calls simplified. */
export type Form = 'normalized' | 'concise' | 'keyvalues';

/** A form, and the other that the entity may be meant in as well. */
export interface FormGuess {
  readonly form: Form;
  readonly alternative?: Form;
}

/** What an attribute says about its entity's form; `nothing` where the forms do not differ. */
type Evidence = 'normalized' | 'foreign' | 'concise' | 'maybe-concise' | 'value' | 'nothing';

/** The form that an entity is in, by its attributes; see {@link guessForm}. */
export function detectForm(entity: JsonObject): Form {
  return guessForm(Object.entries(entity)).form;
}

/**
 * The form that an entity is in, by its attributes:
 * - normalized when each has a type, either that of an attribute or (with a `value`) a foreign one, such as NGSIv2's: a
 *   kind of attribute was meant;
 * - key-values when none looks like an attribute. An object with a foreign type is a value then, with or without `value`;
 *   a geometry always is one;
 * - concise otherwise, which any mixture is: brokers take both.
 *
 * An object that has nothing but a languageMap, vocab or json is the same in concise and key-values form. One that has a
 * `value` and nothing else of an attribute is taken for concise, but may be data.
 *
 * @param entity its members
 */
export function guessForm(entity: readonly (readonly [string, JsonValue])[]): FormGuess {
  const found = new Set<Evidence>();
  for (const [name, value] of entity) if (!NO_OWN_ATTRIBUTES.has(name)) found.add(evidenceOf(value));
  if (found.has('concise')) return { form: 'concise' };
  const isPlain = found.has('value') || found.has('nothing');
  if (found.has('normalized')) {
    const isWhole = !isPlain && !found.has('maybe-concise');
    return { form: isWhole ? 'normalized' : 'concise' };
  }
  if (found.has('maybe-concise')) return { form: 'concise', alternative: 'keyvalues' };
  if (isPlain) return { form: 'keyvalues' };
  return { form: 'normalized', ...(found.has('foreign') ? { alternative: 'keyvalues' } : {}) };
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
