import { isObject, type JsonObject, pointerOf } from '../../shared/json/json.js';
import { cachedAttributesOf, entityTypes, listedTypes, type ModelAttributes } from './attributes.js';
import type { Difference } from './differences.js';
import { ValueConstraints } from './value-constraints.js';

/**
 * Finds the types that entities of a model had to have, and no longer can: if the schema stops to require another type,
 * the type is the name of the model. Types that the new schema itself refuses are left to the comparison of schemas.
 *
 * @param model the name of the model
 */
export function typeChanges(before: JsonObject, after: JsonObject, model: string): readonly Difference[] {
  const [old, fresh] = [cachedAttributesOf(before), cachedAttributesOf(after)];
  const [listed, allowed] = [listedTypes(old), listedTypes(fresh)];
  const [types, newTypes] = [entityTypes(model, listed), entityTypes(model, allowed)];
  const lost = types.filter((type) => !newTypes.includes(type));
  if (!lost.some((type) => allowed === undefined || allowed.flat().includes(type))) return [];
  const keepsSome = lost.length < types.length;
  const detail = `the type of entities is ${shownAll(newTypes)}, was ${shownAll(types)}`;
  const pointer = placeOfType(fresh);
  return [{ pointer, class: keepsSome ? 'narrowing' : 'breaking', reason: 'values', detail }];
}

/** Where the schema describes the type; the schema as a whole if it does not. */
function placeOfType({ root, targets, sources }: ModelAttributes): string {
  const described = new ValueConstraints([root], targets).property('type').filter(isObject);
  return pointerOf(described.map((schema) => sources.get(schema)?.tokens).find(Boolean) ?? []);
}

function shownAll(types: readonly string[]): string {
  return types.map((type) => JSON.stringify(type)).join(' or ');
}
