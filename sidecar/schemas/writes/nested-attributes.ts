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
 * @param form the one in which the entity was validated
 */
export function nestedAttributeErrors(
  entity: JsonObject,
  model: Model,
  { warnings, form }: { readonly warnings: readonly EntityNotice[]; readonly form: 'keyvalues' | 'concise' },
  spelling: Spelling,
): readonly EntityError[] {
  const nested = warnings.filter(({ code }) => code === 'nested-attribute');
  return nested.flatMap(({ tokens: [name = '', ...below] }) => {
    const path = form === 'keyvalues' ? [] : valuePath(entity[name] ?? null, below);
    const value = path?.reduce<JsonValue | undefined>(childAt, entity[name]);
    if (value === undefined) return [];
    const { id = null, type = null } = entity;
    return validateEntity({ id, type, [name]: value }, model, { form: 'keyvalues' }, spelling)
      .errors.filter(({ tokens }) => tokens[0] === name)
      .map((error) => ({ ...error, tokens: [name, ...(path ?? []), ...error.tokens.slice(1)] }));
  });
}

/**
 * Where the value is that a place in an attribute belongs to: in its only instance, in one of several, or the attribute itself.
 * Undefined for a place in an attribute of the attribute, about which models say nothing.
 */
function valuePath(
  attribute: JsonValue,
  [first, second]: readonly (string | undefined)[],
): readonly string[] | undefined {
  if (first === undefined) return [];
  if (hasValue(attribute)) return VALUES.has(first) ? [first] : undefined;
  if (second === undefined || !isArray(attribute) || !attribute.every(hasValue)) return [];
  return VALUES.has(second) ? [first, second] : undefined;
}

/** The members in which validation finds attributes. */
const VALUES: ReadonlySet<string> = new Set(['value', 'valueList']);

function hasValue(attribute: JsonValue): boolean {
  return isObject(attribute) && isAttribute(attribute);
}
