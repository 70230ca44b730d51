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

/**
 * Why some brokers may read a part of an attribute in another way, perhaps as its value. Brokers that expand entities
 * also expand the members of values.
 */
export function doubtOfParts(value: JsonValue, names: Names): string | undefined {
  if (isArray(value)) {
    for (const item of value) {
      const doubt = doubtOfParts(item, names);
      if (doubt !== undefined) return doubt;
    }
    return undefined;
  }
  return isObject(value) ? doubtOfMembers(value, names) : undefined;
}

function doubtOfMembers(object: JsonObject, names: Names): string | undefined {
  const isOwn = isAttribute(object);
  const members = Object.entries(object);
  const scoped = scopedIn(object, names);
  if (scoped !== undefined) return `the @context has other definitions within ${quoted(scoped, 200)}`;
  const doubt = members.some(([name]) => names.isDefined(name)) ? doubtOfMeanings(object, names) : undefined;
  if (doubt !== undefined) return doubt;
  for (const [name, value] of members) {
    if (name === '@context') return 'brokers differ in whether they use an @context within an attribute';
    // The content of a JsonProperty is not expanded.
    const found =
      (isOwn ? names.doubtOf(name) : undefined) ??
      (isOwn && name === 'json' ? undefined : doubtOfParts(value, names));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A term or type in an object within which the @context has other definitions. */
function scopedIn(object: JsonObject, names: Names): string | undefined {
  const types = [member(object, 'type') ?? member(object, '@type')].flat();
  return [...Object.keys(object), ...types].find(
    (name) => typeof name === 'string' && names.isDefined(name) && names.isScoped(name),
  ) as string | undefined;
}

/** Why brokers may find something else in an object that has several names for the same, or a name for a keyword. */
function doubtOfMeanings(object: JsonObject, names: Names): string | undefined {
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
