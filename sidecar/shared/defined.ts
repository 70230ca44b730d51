/** Returns a copy of an object without its undefined members. */
export function defined<Value extends object>(
  value: Value,
): { [Name in keyof Value]?: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [Name in keyof Value]?: Exclude<Value[Name], undefined>;
  };
}
