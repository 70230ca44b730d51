import { childAt, isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import type { Spelling } from '../json-schema/spelling.js';
import type { Model } from '../validation/model.js';
import { type EntityError, type EntityNotice, validateEntity } from '../validation/validate-entity.js';
import { isAttribute } from './attribute-parts.js';

/**
 * The errors of values with attributes inside, as brokers store them. Validation looks at the value of such an attribute
 * instead, because people write them by mistake, and warns.
 *
 * @param warnings those of the validation
 */
export function nestedAttributeErrors(
  entity: JsonObject,
  model: Model,
  warnings: readonly EntityNotice[],
  spelling: Spelling,
): readonly EntityError[] {
  const nested = warnings.filter(({ code }) => code === 'nested-attribute');
  return nested.flatMap(({ tokens: [name = '', ...below] }) => {
    const path = valuePath(entity[name] ?? null, below);
    const value = path.reduce<JsonValue | undefined>(childAt, entity[name]);
    if (value === undefined) return [];
    const { id = null, type = null } = entity;
    return validateEntity({ id, type, [name]: value }, model, { form: 'keyvalues' }, spelling)
      .errors.filter(({ tokens }) => tokens[0] === name)
      .map((error) => ({ ...error, tokens: [name, ...path, ...error.tokens.slice(1)] }));
  });
}

/** Where the value is that a place in an attribute belongs to: in its only instance, in one of several, or the attribute itself. */
function valuePath(attribute: JsonValue, [first = '', second = '']: readonly string[]): readonly string[] {
  if (isValueMember(attribute, first)) return [first];
  const instance = isArray(attribute) ? attribute[Number(first)] : undefined;
  return isValueMember(instance, second) ? [first, second] : [];
}

function isValueMember(attribute: JsonValue | undefined, name: string): boolean {
  return isObject(attribute) && isAttribute(attribute) && (name === 'value' || name === 'valueList');
}
