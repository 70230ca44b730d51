import { isArray, isObject, member, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { step } from '../../shared/json/pointer.js';
import type { Finding } from '../../ngsi-ld/representation/findings.js';
import { KIND_OF_MEMBER } from '../../ngsi-ld/representation/value-members.js';

/** Members of an attribute that its key-values form is made of. */
const CONVERTED: ReadonlySet<string> = new Set(['type', ...KIND_OF_MEMBER.keys()]);

/** Members of an entity whose lack is a fault of structure. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['id', 'type']);

/**
 * Tells of what a schema has against an entity whether it only follows from a fault of structure: what stands in the same
 * instance of an attribute, when that has the wrong form or value; and what is lacking because it could not be read, or is
 * lacking by the standard as well.
 */
export function consequencesOf(
  faults: readonly Finding[],
  entity: JsonObject,
): (tokens: readonly string[], missing: string | undefined) => boolean {
  if (faults.length === 0) return () => false;
  // That two instances have the same datasetId does not keep them from being read.
  const reaching = faults.filter(({ keyword }) => keyword !== 'uniqueItems');
  const wrong = new Set<string>();
  // By name and index, for names may be long: they are not put together.
  const wrongInstances = new Map<string, Set<string>>();
  for (const { tokens } of reaching) {
    const [name, index] = reachOf(tokens, entity);
    if (name === undefined) continue;
    if (index === undefined) wrong.add(name);
    else wrongInstances.set(name, (wrongInstances.get(name) ?? new Set()).add(index));
  }
  const isEntityWrong = faults.some(({ tokens }) => tokens.length === 0);
  return ([name, ...below], missing) => {
    if (missing !== undefined && isEntityWrong && ALWAYS_THERE.has(missing)) return true;
    if (name === undefined) return missing !== undefined && wrong.has(missing);
    if (wrong.has(name)) return true;
    const [index] = below;
    return index !== undefined && wrongInstances.get(name)?.has(index) === true;
  };
}

/** The attribute, or its name and the index of its instance, that a fault makes unreadable. */
function reachOf([name, ...below]: readonly string[], entity: JsonObject): readonly string[] {
  if (name === undefined) return [];
  const hasInstances = isArray(member(entity, name));
  const [index] = below;
  const own = hasInstances && index !== undefined ? [name, index] : [name];
  const [inner] = hasInstances ? below.slice(1) : below;
  const value = hasInstances ? step(member(entity, name), index ?? '') : member(entity, name);
  return inner === undefined || CONVERTED.has(inner) || isBare(value) ? own : [];
}

/** A value without anything around it, such as a geometry in the concise representation. */
function isBare(value: JsonValue | undefined): boolean {
  return !isObject(value) || ![...KIND_OF_MEMBER.keys()].some((name) => Object.hasOwn(value, name));
}
