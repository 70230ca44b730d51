import { KIND_BY_MEMBER, kindOfType } from '../../ngsi-ld/members.js';
import { isMetadataMember } from '../../ngsi-ld/representation/value-checks.js';
import { quoted } from '../../shared/format-value.js';
import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import type { Names } from '../json-ld/names.js';

/** Whether an object is an attribute, normalized or concise. */
export function isAttribute(object: JsonObject): boolean {
  return (
    kindOfType(member(object, 'type') ?? member(object, '@type')) !== undefined ||
    [...KIND_BY_MEMBER.keys()].some((name) => Object.hasOwn(object, name))
  );
}

/** The names under which brokers that expand names find values, such as hasValue and hasObject. */
const VALUE_IRI = /^https:\/\/uri\.etsi\.org\/ngsi-ld\/has[A-Z]/;

/** Keywords whose content takes the place of the object that has them. */
const STRUCTURAL_KEYWORDS: ReadonlySet<string> = new Set([
  '@graph',
  '@included',
  '@list',
  '@nest',
  '@reverse',
  '@set',
]);

/** Members that all readers take for the identifier or the type. */
const ID_AND_TYPE: ReadonlySet<string> = new Set(['id', 'type', '@id', '@type']);

/**
 * The first member of an attribute, or of one of its instances, that some brokers use as its value, although it has
 * another name: one that means the same, or a keyword of JSON-LD, such as an alias of `@nest`.
 */
export function findValueAlias(value: JsonValue, names: Names): string | undefined {
  if (isArray(value)) {
    for (const item of value) {
      const found = isObject(item) ? findValueAlias(item, names) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  return Object.keys(value).find((name) => {
    if (ID_AND_TYPE.has(name)) return false;
    if (name.startsWith('@')) return isAttribute(value);
    if (KIND_BY_MEMBER.has(name) || isMetadataMember(name)) return false;
    const iri = names.iriOf(name) ?? '';
    return iri.startsWith('@') || VALUE_IRI.test(iri);
  });
}

/** What the names of members mean that the @context defines, in values at any depth. */
export type ValueNames = Map<string, string | undefined>;

/**
 * Why some brokers may read a part of an attribute in another way, perhaps as its value. Brokers that expand entities
 * also expand the members of values.
 *
 * @param found collects the names in values
 */
export function doubtOfParts(value: JsonValue, names: Names, found: ValueNames): string | undefined {
  if (isArray(value)) {
    for (const item of value) {
      const doubt = doubtOfParts(item, names, found);
      if (doubt !== undefined) return doubt;
    }
    return undefined;
  }
  return isObject(value) ? doubtOfMembers(value, names, found) : undefined;
}

function doubtOfMembers(object: JsonObject, names: Names, found: ValueNames): string | undefined {
  if (Object.hasOwn(object, '@context'))
    return 'brokers differ in whether they use an @context within an attribute';
  const isOwn = isAttribute(object);
  const members = Object.keys(object);
  const structural = members.find((name) => STRUCTURAL_KEYWORDS.has(name));
  if (structural !== undefined)
    return `not all brokers know ${structural}, a keyword of JSON-LD, within an attribute`;
  const defined = members.filter((name) => names.isDefined(name));
  const types = [member(object, 'type') ?? member(object, '@type')].flat();
  const scoped = [...defined, ...types].find((name) => typeof name === 'string' && names.isScoped(name));
  if (typeof scoped === 'string') return `the @context has other definitions within ${quoted(scoped, 200)}`;
  const doubt = defined.length === 0 ? undefined : doubtOfMeanings(object, defined, names);
  if (doubt !== undefined) return doubt;
  if (!isOwn) for (const name of defined) found.set(name, names.iriOf(name));
  for (const name of members) {
    const value = object[name];
    // The content of a JsonProperty is not expanded.
    if (typeof value !== 'object' || value === null || name === 'json') continue;
    const inside = doubtOfParts(value, names, found);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/**
 * Why brokers may find something else in an object with names that the @context defines: it has several names for the
 * same, or a name for a keyword.
 */
function doubtOfMeanings(object: JsonObject, defined: readonly string[], names: Names): string | undefined {
  for (const name of defined) {
    const doubt = names.doubtOf(name);
    if (doubt !== undefined) return doubt;
  }
  const known = new Map<string, string>();
  for (const name of Object.keys(object)) {
    const iri = names.iriOf(name) ?? name;
    if (iri.startsWith('@') && !name.startsWith('@') && !ID_AND_TYPE.has(name))
      return `${quoted(name, 200)} in an attribute stands for ${iri}, a keyword of JSON-LD that not all brokers know`;
    const same = known.get(iri);
    if (same !== undefined)
      return `${quoted(same, 200)} and ${quoted(name, 200)} in an attribute mean the same, and brokers differ in which one they use`;
    known.set(iri, name);
  }
  return undefined;
}
