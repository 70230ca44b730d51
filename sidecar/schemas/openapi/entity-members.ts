import {
  isArray,
  isObject,
  type JsonObject,
  member,
  objectOf,
  omitMembers,
  type Schema,
} from '../../shared/json/json.js';
import { isMatch } from '../json-schema/closures.js';
import { alwaysAppliedSchemas, type FlatSchema, namedSchemasIn } from '../json-schema/flatten.js';

/** A model's schema, split into components. */
type Parts = Pick<FlatSchema, 'root' | 'definitions' | 'targets'>;

/** Whether a model allows only certain members. */
export function isClosed(model: Parts): boolean {
  return partsOf(model).some(isClosing);
}

/**
 * Describes entities as brokers show them, which have more than the model says. Adds members to the parts of a closed
 * model that would refuse them, and the other form of values: wrapped (clause 4.5.4), or with a type (clause 4.6.3).
 * What the model describes itself stays as it is. A definition that values refer to, too, allows the members there as
 * well.
 *
 * @param members schemas by name
 * @param alternatives makes the schema of the other form of an attribute from that of its value, by attribute
 */
export function withMembers(
  model: Parts,
  members: JsonObject,
  alternatives: ReadonlyMap<string, (schema: Schema) => Schema>,
): Pick<Parts, 'root' | 'definitions'> {
  if (!isClosed(model) && alternatives.size === 0) return model;
  const { root, definitions } = model;
  const parts = new Set(partsOf(model));
  const added = Object.entries(members).map(([name, schema]): readonly [string, Schema] => {
    // If another part describes the member, that alone restricts it.
    return [name, [...parts].some((part) => describes(part, name)) || !isObject(schema) ? true : schema];
  });
  const opened = (part: Schema): Schema => {
    if (!isObject(part) || !parts.has(part)) return part;
    const entries = Object.entries(part).map(([keyword, value]) => {
      if (keyword === 'properties' && isObject(value))
        return [keyword, withAlternatives(value, alternatives)] as const;
      const isList = HOLD_PARTS.has(keyword) && isArray(value);
      return [keyword, isList ? value.map((one) => (isObject(one) ? opened(one) : one)) : value] as const;
    });
    if (!isClosing(part)) return objectOf(entries);
    const described = entries.find(([keyword]) => keyword === 'properties')?.[1];
    const properties = objectOf([
      ...Object.entries(isObject(described) ? described : {}),
      ...added.filter(([name]) => !describes(part, name)),
    ]);
    return objectOf([...entries.filter(([keyword]) => keyword !== 'properties'), ['properties', properties]]);
  };
  const openedRoot = opened(root);
  return {
    root: isObject(openedRoot) ? openedRoot : root,
    definitions: new Map([...definitions].map(([name, schema]) => [name, opened(schema)])),
  };
}

/** The schemas of properties, which allow the other forms of values as well. */
function withAlternatives(
  properties: JsonObject,
  alternatives: ReadonlyMap<string, (schema: Schema) => Schema>,
): JsonObject {
  return objectOf(
    Object.entries(properties).map(([name, schema]) => {
      const other = alternatives.get(name);
      if (other === undefined || !isObject(schema)) return [name, schema];
      const said = Object.entries(schema).filter(([keyword]) => SAID_OF_BOTH.has(keyword));
      const value = omitMembers(schema, SAID_OF_BOTH);
      return [name, objectOf([...said, ['anyOf', [value, other(value)]]])];
    }),
  );
}

/** Annotations that belong to a property, whatever the form of its value. */
const SAID_OF_BOTH: ReadonlySet<string> = new Set(['title', 'description', 'deprecated']);

/** Keywords with lists of schemas, which may be parts that always apply. */
const HOLD_PARTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);

/** The schema objects that every entity satisfies. */
function partsOf({ root, targets }: Parts): readonly JsonObject[] {
  return alwaysAppliedSchemas([root], targets).filter(isObject);
}

function isClosing(part: JsonObject): boolean {
  return ['additionalProperties', 'unevaluatedProperties'].some((keyword) => member(part, keyword) === false);
}

function describes(part: JsonObject, name: string): boolean {
  const patterns = [...namedSchemasIn(part, 'patternProperties').keys()];
  return namedSchemasIn(part, 'properties').has(name) || patterns.some((pattern) => isMatch(pattern, name));
}
