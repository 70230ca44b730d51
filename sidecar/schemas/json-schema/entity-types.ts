import type { JsonValue } from '../../shared/json/json.js';

/**
 * The types that entities of a model may have, at least one: its name, where the schema allows that; else the types that the
 * schema lists for the member `type`. Where it lists none that is a string, the name stands, and no entity is valid.
 *
 * @param listed the only values that the schema allows for `type`; undefined when it allows others
 */
export function entityTypes(model: string, listed: readonly JsonValue[] | undefined): readonly string[] {
  if (listed === undefined) return [model];
  const types = [...new Set(listed.flat())].filter((type) => typeof type === 'string');
  return types.length === 0 || types.includes(model) ? [model] : types;
}
