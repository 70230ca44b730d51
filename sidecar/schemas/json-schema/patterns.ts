import { isObject, member, type Schema } from '../../shared/json/json.js';

/** A regular expression in a schema, and the tokens that lead to it from there. */
export interface SchemaPattern {
  readonly tokens: readonly string[];
  readonly pattern: string;
}

/** The regular expressions that a schema itself holds: `pattern` and the keys of `patternProperties`. */
export function patternsOf(schema: Schema): readonly SchemaPattern[] {
  if (!isObject(schema)) return [];
  const pattern = member(schema, 'pattern');
  const properties = member(schema, 'patternProperties');
  const keys = isObject(properties) ? Object.keys(properties) : [];
  return [
    ...(typeof pattern === 'string' ? [{ tokens: ['pattern'], pattern }] : []),
    ...keys.map((key) => ({ tokens: ['patternProperties', key], pattern: key })),
  ];
}
