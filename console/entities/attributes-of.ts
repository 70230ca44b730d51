/** What is said of an entity in one line for each of its attributes. Pure: it is tested without a browser. */
import { parsed } from '../../sidecar/client/client.js';
import { NO_OWN_ATTRIBUTES } from '../../sidecar/ngsi-ld/members.js';
import { writeJson } from '../../sidecar/shared/json/lossless-json.js';

/** An attribute of a normalized entity, for people. */
export interface ShownAttribute {
  readonly name: string;
  /** Property, Relationship …; empty where there are several instances, or none of them says it. */
  readonly kind: string;
  /** Its value in few characters, with its unit; of several instances, how many. */
  readonly short: string | { readonly instances: number };
  /** All of it. */
  readonly json: string;
}

/** Characters of a value that are shown in a line. */
const MOST_CHARACTERS = 60;

/** Members that have the value, of which an attribute has one (NGSI-LD, clause 4.5). */
const VALUES = ['value', 'object', 'languageMap', 'json', 'vocab', 'valueList', 'objectList'];

/** The attributes of an entity, in its order; its id, type, scope, @context and times are none. */
export function attributesOf(entityText: string): readonly ShownAttribute[] {
  const entity = Object(parsed(entityText)) as Readonly<Record<string, unknown>>;
  return Object.entries(entity)
    .filter(([name]) => !NO_OWN_ATTRIBUTES.has(name))
    .map(([name, value]) => ({ name, ...lineOf(value), json: writeJson(value, 2) }));
}

/** The types of an entity. */
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
  // Not in the middle of a pair.
  return `${whole.slice(0, MOST_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
