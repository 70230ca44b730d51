/** Whether the JSON text of a value has more than so many characters, about; looks no further than needed. */
export function isLarger(value: unknown, characters: number): boolean {
  return rest(value, characters) < 0;
}

/** What is left of so many characters. Recursive: for values whose depth was checked. */
function rest(value: unknown, characters: number): number {
  if (typeof value === 'string') return characters - value.length - 3;
  if (typeof value !== 'object' || value === null) return characters - 5;
  let left = characters - 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      left = rest(item, left);
      if (left < 0) break;
    }
    return left;
  }
  for (const name of Object.keys(value)) {
    left = rest((value as Readonly<Record<string, unknown>>)[name], left - name.length - 4);
    if (left < 0) break;
  }
  return left;
}
