import {
  type AttributeKind,
  NO_OWN_ATTRIBUTES,
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
  tokensOf,
} from '../../shared/json/json.js';
import type { ModelAttribute } from './attributes.js';
import { type Choices, ExampleMaker, type Preferred } from './example-maker.js';
import type { Targets } from './flatten.js';

/** Something that an example gets wrong, and where: a JSON pointer into it. */
export interface ExampleFault {
  readonly instancePath: string;
  readonly message?: string;
}

interface ExampleOptions {
  readonly preferred?: Preferred;
  /** Checks an example; other ways are tried while it finds faults. */
  readonly check: (example: JsonValue) => readonly ExampleFault[];
}

/** The best example found, and what is wrong with it: nothing when it is valid. */
export interface Example {
  readonly example: JsonValue;
  readonly faults: readonly ExampleFault[];
}

/** An example, and the choices that led to it. */
interface Attempt extends Example {
  readonly choices: Choices;
  /** How many ways there were for each choice. */
  readonly options: ReadonlyMap<string, number>;
}

/** Examples made in search of one that validates. */
const MAX_ATTEMPTS = 64;

/**
 * An example of a schema: its own constants, enumerated values, defaults and examples first, then values made to suit
 * formats, patterns and bounds. It has every property that the schema describes and that can be given a value, and goes
 * into a recursive schema once. The same schema always has the same example.
 *
 * To be run in a worker: patterns are executed, and the search may be long.
 *
 * @param root of a flat schema, with the targets of its references
 */
export function exampleWith(
  root: Schema,
  targets: Targets,
  { preferred = new Map(), check }: ExampleOptions,
): Example {
  const attempt = (choices: Choices): Attempt => {
    const maker = new ExampleMaker(targets, choices);
    const example = maker.document(root, preferred) ?? null;
    return { example, faults: check(example), choices, options: maker.options };
  };
  let best = attempt(new Map());
  let left = MAX_ATTEMPTS;
  for (let next: Attempt | undefined = best; next !== undefined && best.faults.length > 0;) {
    next = undefined;
    for (const choices of otherChoices(best)) {
      if ((left -= 1) < 0) break;
      const other = attempt(choices);
      if (other.faults.length >= best.faults.length) continue;
      next = best = other;
      break;
    }
  }
  return withoutFaulty(best, check);
}

/** The choices of an attempt with one of them made otherwise. */
function* otherChoices({ choices, options }: Attempt): Iterable<Choices> {
  for (const [choice, count] of options) {
    const made = choices.get(choice) ?? 0;
    for (let way = 0; way < count; way += 1) if (way !== made) yield new Map([...choices, [choice, way]]);
  }
}

/** Leaves out properties that are at fault, where the rest is better without them. */
function withoutFaulty({ example, faults }: Example, check: ExampleOptions['check']): Example {
  const faulty = new Set(faults.map(({ instancePath }) => tokensOf(instancePath)?.[0]));
  if (!isObject(example) || faulty.size === 0) return { example, faults };
  const rest = objectOf(Object.entries(example).filter(([name]) => !faulty.has(name)));
  const left = check(rest);
  return left.length < faults.length
    ? withoutFaulty({ example: rest, faults: left }, check)
    : { example, faults };
}

/**
 * The normalized representation (ETSI GS CIM 009 V1.9.1, clause 4.5.1) of an entity in key-values form.
 *
 * Members keep their order, `@context` comes last; attributes that the model does not know become Properties. Those that
 * are null are left out, as no attribute can be.
 *
 * @param context what `@context` will be, usually the model's context and the core context by their URLs; left out for
 *   bodies of application/json
 */
export function exampleEntity(
  keyValues: JsonObject,
  attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[],
  context?: JsonValue,
): JsonObject {
  const kinds = new Map(attributes.map(({ name, kind }) => [name, kind]));
  const entries = Object.entries(keyValues).flatMap(([name, value]): (readonly [string, JsonValue])[] => {
    if (name === '@context' || value === null) return [];
    return [[name, NO_OWN_ATTRIBUTES.has(name) ? value : attributeOf(value, kinds.get(name) ?? 'Property')]];
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
