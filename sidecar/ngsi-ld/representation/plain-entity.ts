import { isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { KIND_BY_MEMBER, kindOfType, NON_ATTRIBUTE_MEMBERS, VALUE_MEMBERS } from '../members.js';
import { checkEntityMember } from './entity-checks.js';
import { Findings } from './findings.js';
import { keyValueOfTyped } from './key-values.js';
import { checkMetadataMember, checkValue, isMetadataMember } from './value-checks.js';

/**
 * Makes the key-values form of an entity in one pass if it is plain, as nearly all stored entities are: its type is the
 * model's, all its attributes are normalized with one instance each, and it has no fault. `readEntity` then finds no
 * fault either, and the same single reading.
 *
 * @param unwraps as for `readEntity`
 * @returns undefined if the entity is not plain, which does not mean that it has a fault
 */
export function plainKeyValues(
  entity: JsonObject,
  model: string,
  unwraps: (attribute: string) => boolean,
): JsonObject | undefined {
  if (!Object.hasOwn(entity, 'id') || entity['type'] !== model) return undefined;
  const findings = new Findings();
  const keyValues: Record<string, JsonValue> = {};
  // Inherited members would only lead to the careful reading.
  for (const name in entity) {
    const value = entity[name] ?? null;
    if (NON_ATTRIBUTE_MEMBERS.has(name)) {
      if (name === '@context') continue;
      if (name.startsWith('@')) return undefined;
      checkEntityMember(name, value, model, findings);
      keyValues[name] = value;
    } else {
      const shown = keyValueIfPlain(value, () => unwraps(name), findings);
      // By assignment, __proto__ would not become a member.
      if (shown === undefined || name === '__proto__') return undefined;
      keyValues[name] = shown;
    }
  }
  return findings.faults.length === 0 ? keyValues : undefined;
}

/** The value of an attribute that is a single normalized instance, as are its sub-attributes. Reports its faults. */
function keyValueIfPlain(
  attribute: JsonValue,
  unwraps: () => boolean,
  findings: Findings,
): JsonValue | undefined {
  if (!isObject(attribute)) return undefined;
  const kind = kindOfType(attribute['type']);
  if (kind === undefined) return undefined;
  const own = VALUE_MEMBERS[kind];
  let content: JsonValue | undefined;
  for (const name in attribute) {
    const value = attribute[name] ?? null;
    if (name === own) {
      content = value;
      checkValue(kind, value, findings);
    } else if (name === 'type') continue;
    else if (isMetadataMember(name)) checkMetadataMember(name, value, kind, findings);
    else if (KIND_BY_MEMBER.has(name) || keyValueIfPlain(value, unwraps, findings) === undefined)
      return undefined;
  }
  if (kind === 'Property' && typeof content !== 'object') return content;
  return content === undefined ? undefined : keyValueOfTyped(attribute, kind, unwraps());
}
