import type { JsonValue } from '../../shared/json/json.js';

/** How many values there are in a value, itself included; not counted further than to `most`. */
export function weightOf(value: JsonValue, most: number): number {
  const open: JsonValue[] = [value];
  let count = 0;
  for (let next = open.pop(); next !== undefined && count < most; next = open.pop()) {
    count += 1;
    if (typeof next === 'object' && next !== null)
      for (const inner of Object.values<JsonValue>(next)) open.push(inner);
  }
  return count;
}
