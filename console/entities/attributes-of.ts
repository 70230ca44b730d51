/** Summarises the attributes of an entity in one line each. Pure: it is tested without a browser. */
import { parsed } from '../../sidecar/client/client.js';
import { NO_OWN_ATTRIBUTES } from '../../sidecar/ngsi-ld/members.js';
import { writeJson } from '../../sidecar/shared/json/lossless-json.js';

/** An attribute of a normalized entity, for people. */
export interface ShownAttribute {
  readonly name: string;
  /** Property, Relationship … of the first instance; empty if it has no type. */
  readonly kind: string;
  /** Its value, shortened, with its unit; for several instances, their number. */
  readonly short: string | { readonly instances: number };
  /** The whole attribute as JSON. */
  readonly json: string;
}

/** Maximum number of characters of a value in one line. */
const MOST_CHARACTERS = 60;

/** Members that can hold the value; an attribute has one of them (NGSI-LD, clause 4.5). */
const VALUES = ['value', 'object', 'languageMap', 'json', 'vocab', 'valueList', 'objectList'];

/** Returns the attributes of an entity, in its order, without id, type, scope, @context and system times. */
export function attributesOf(entityText: string): readonly ShownAttribute[] {
  const entity = Object(parsed(entityText)) as Readonly<Record<string, unknown>>;
  return Object.entries(entity)
    .filter(([name]) => !NO_OWN_ATTRIBUTES.has(name))
    .map(([name, value]) => ({ name, ...lineOf(value), json: writeJson(value, 2) }));
}

/** Returns the types of an entity. */
export function typesOf(entityText: string): readonly string[] {
  const { type } = Object(parsed(entityText)) as { readonly type?: unknown };
  return [type].flat().filter((one) => typeof one === 'string');
}

function lineOf(attribute: unknown): Pick<ShownAttribute, 'kind' | 'short'> {
  if (Array.isArray(attribute) && attribute.length !== 1)
    return { kind: kindOf(attribute[0]), short: { instances: attribute.length } };
  const [instance] = [attribute].flat();
  const members = Object(instance) as Readonly<Record<string, unknown>>;
  const valued = VALUES.find((name) => members[name] !== undefined);
  const value = valued === undefined ? instance : members[valued];
  const unit = members['unitCode'];
  return {
    kind: kindOf(instance),
    short: [shortened(value), ...(typeof unit === 'string' ? [unit] : [])].join(' '),
  };
}

function kindOf(instance: unknown): string {
  const { type } = Object(instance) as { readonly type?: unknown };
  return typeof type === 'string' ? type : '';
}

function shortened(value: unknown): string {
  const whole = typeof value === 'string' ? value : writeJson(value);
  if (whole.length <= MOST_CHARACTERS) return whole;
  // Do not cut in the middle of a surrogate pair.
  return `${whole.slice(0, MOST_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
