import {
  type AttributeKind,
  NON_ATTRIBUTE_MEMBERS,
  VALUE_MEMBERS,
  WRAPPED_KINDS,
} from '../../ngsi-ld/members.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  type Schema,
} from '../../shared/json/json.js';
import type { ModelAttribute } from './attributes.js';
import type { Fault } from './explain.js';
import { ExampleGenerator, type Preferred } from './example-generator.js';
import type { ReferenceTargets } from './flatten.js';

/** A fault of an example. */
export type ExampleFault = Pick<Fault, 'tokens' | 'predicate'>;

interface ExampleOptions {
  readonly preferred?: Preferred;
  /** Checks an example. */
  readonly check: (example: JsonValue) => readonly ExampleFault[];
}

/** An example, and its faults; there are none if it is valid. */
export interface Example {
  readonly example: JsonValue;
  readonly faults: readonly ExampleFault[];
}

/**
 * Makes an example of a schema. It uses the schema's own constants, enumerated values, defaults and examples if there
 * are any, and otherwise makes values that suit formats, patterns and bounds, with the first possible one of each set
 * of alternatives. The example has every property that the schema describes and that can be given a value, and enters a
 * recursive schema once. Properties with faults are left out if that helps. The same schema always has the same
 * example.
 *
 * Must run in a worker: patterns are executed.
 *
 * @param root the root of a flat schema
 * @param targets the targets of its references
 */
export function generateExample(
  root: Schema,
  targets: ReferenceTargets,
  { preferred = new Map(), check }: ExampleOptions,
): Example {
  const example = new ExampleGenerator(targets).document(root, preferred) ?? null;
  return withoutFaulty({ example, faults: check(example) }, check);
}

/** Leaves out properties with faults, if the rest has fewer faults without them. */
function withoutFaulty({ example, faults }: Example, check: ExampleOptions['check']): Example {
  const faulty = new Set(faults.map(({ tokens: [name] }) => name));
  if (!isObject(example) || faulty.size === 0) return { example, faults };
  const rest = objectOf(Object.entries(example).filter(([name]) => !faulty.has(name)));
  const left = check(rest);
  return left.length < faults.length
    ? withoutFaulty({ example: rest, faults: left }, check)
    : { example, faults };
}

/**
 * Converts an entity in key-values form to the normalized representation (ETSI GS CIM 009 V1.9.1, clause 4.5.1).
 *
 * Members keep their order, and `@context` comes last. Attributes that the model does not describe become Properties.
 * Members that are null are left out, because an attribute cannot be null.
 *
 * @param context the value of `@context`, usually the URLs of the model's context and of the core context; left out
 * for bodies of application/json
 */
export function normalizedExample(
  keyValues: JsonObject,
  attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[],
  context?: JsonValue,
): JsonObject {
  const kinds = new Map(attributes.map(({ name, kind }) => [name, kind]));
  const entries = Object.entries(keyValues).flatMap(([name, value]): (readonly [string, JsonValue])[] => {
    if (name === '@context' || value === null) return [];
    return [
      [name, NON_ATTRIBUTE_MEMBERS.has(name) ? value : attributeOf(value, kinds.get(name) ?? 'Property')],
    ];
  });
  return objectOf(context === undefined ? entries : [...entries, ['@context', context]]);
}

function attributeOf(value: JsonValue, kind: AttributeKind): JsonObject {
  return { type: kind, [VALUE_MEMBERS[kind]]: valueOf(value, kind) };
}

function valueOf(value: JsonValue, kind: AttributeKind): JsonValue {
  if (WRAPPED_KINDS.has(kind)) {
    const inner = isObject(value) ? member(value, VALUE_MEMBERS[kind]) : undefined;
    if (inner !== undefined) return inner;
    return kind === 'LanguageProperty' && !isObject(value) ? { '@none': value } : value;
  }
  if (kind !== 'ListProperty' && kind !== 'ListRelationship') return value;
  const items = isArray(value) ? value : [value];
  return kind === 'ListProperty' ? items : items.map((item) => ({ object: item }));
}
