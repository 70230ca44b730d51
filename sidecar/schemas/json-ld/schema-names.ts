import { isMap } from './json.js';

/** Keywords of JSON Schema whose values are data, and hold no schemas. */
const LITERALS: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** Keywords of JSON Schema that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'],
]);

/**
 * The names that a JSON schema describes under `properties`, at any depth, each once: attributes and the members of their
 * values alike. Definitions count whether or not anything refers to them, so that no reference needs to be followed.
 *
 * @param schema self-contained; nested no deeper than the stack allows
 */
export function namesInSchema(schema: unknown): readonly string[] {
  const names = new Set<string>();
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) {
      for (const item of part) visit(item);
    } else if (isMap(part)) {
      for (const [keyword, value] of Object.entries(part)) {
        if (LITERALS.has(keyword) || keyword.startsWith('x-')) continue;
        if (!NAMED.has(keyword) || !isMap(value)) {
          visit(value);
          continue;
        }
        for (const [name, inner] of Object.entries(value)) {
          if (keyword === 'properties') names.add(name);
          visit(inner);
        }
      }
    }
  };
  visit(schema);
  return [...names];
}
