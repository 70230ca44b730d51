import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import { type Condition, conditionsOf, type Held, type View } from './conditions.js';
import { conjunctsOf, type Targets } from './flatten.js';

/** A condition of a schema: two with the same key ask the same. */
interface KeyedCondition {
  readonly keyword: string;
  readonly key: string;
}

/** What a schema asks, on one view, with what it refers to and all in its `allOf`. */
interface Vertex {
  readonly conditions: readonly NumberedCondition[];
}

/** What `false` asks. */
const NOTHING: Condition = { keyword: '', text: 'nothing', held: [], order: 'list', isEmptyIfTrue: false };

interface NumberedCondition {
  readonly text: number;
  readonly held: readonly number[];
  readonly order: Condition['order'];
  readonly isEmptyIfTrue: boolean;
}

/**
 * Numbers for schemas: those of the same number accept the same values, because they ask the same in the end, whatever the
 * order, whether in place, by reference or in `allOf`, and however they refer to themselves. Annotations do not count. That
 * a property is described does, also where it may be anything.
 *
 * All schemas begin with one number and get different ones where a difference shows, until none does any more: the coarsest
 * partition in which equal schemas ask for equal ones. Whatever a value, to tell two of them apart it would have to nest
 * without end.
 */
export class SchemaClasses {
  readonly #targets: Targets;
  readonly #texts = new Map<string, number>();
  readonly #vertices: Readonly<Record<View, Map<Schema, number>>> = {
    validity: new Map(),
    properties: new Map(),
    items: new Map(),
  };
  readonly #classes: number[];
  /** Classes by what they ask. */
  readonly #bySignature: Map<string, number>;
  readonly #keyed = new Map<JsonObject, readonly KeyedCondition[]>();

  /** @param roots schemas; they, and all within them and their references, are compared at once */
  constructor(roots: Iterable<Schema>, targets: Targets) {
    this.#targets = targets;
    const vertices = this.#explore([true, ...roots]);
    this.#classes = refined(vertices);
    const signatures = vertices.map((vertex) => signatureOf(vertex, this.#classes));
    this.#bySignature = new Map(signatures.map((signature, index) => [signature, this.#classes[index] ?? 0]));
  }

  of(schema: Schema): number {
    return this.#classes[this.#vertexOf({ schema, view: 'validity' })] ?? 0;
  }

  areSame(one: Schema, other: Schema): boolean {
    return one === other || this.of(one) === this.of(other);
  }

  /** Whether the schema asks nothing. */
  isTrue(schema: Schema): boolean {
    return this.areSame(schema, true);
  }

  /** What the schema's own keywords ask, without what `$ref` and `allOf` bring with them. */
  conditionsOf(schema: JsonObject): readonly KeyedCondition[] {
    let keyed = this.#keyed.get(schema);
    if (keyed === undefined) {
      keyed = conditionsOf(schema, 'validity').flatMap((condition) => {
        const numbered = this.#number(condition, (held) => this.#vertexOf(held));
        const key = keyOf(numbered, this.#classes);
        return key === undefined ? [] : [{ keyword: condition.keyword, key }];
      });
      this.#keyed.set(schema, keyed);
    }
    return keyed;
  }

  #explore(roots: readonly Schema[]): readonly Vertex[] {
    const vertices: Vertex[] = [];
    const open: Held[] = [];
    const visit = (held: Held): number => {
      const numbers = this.#vertices[held.view];
      const number = numbers.get(held.schema) ?? open.length;
      if (number === open.length) {
        numbers.set(held.schema, number);
        open.push(held);
      }
      return number;
    };
    for (const schema of roots) visit({ schema, view: 'validity' });
    // Grows while it is gone through.
    for (const held of open) vertices.push(this.#vertex(held, visit));
    return vertices;
  }

  #vertex({ schema, view }: Held, visit: (held: Held) => number): Vertex {
    const schemas = conjunctsOf([schema], this.#targets);
    const conditions = schemas.filter(isObject).flatMap((atom) => conditionsOf(atom, view));
    const numbered = conditions.map((one) => this.#number(one, visit));
    // What stands beside `false` is compared elsewhere.
    return { conditions: schemas.includes(false) ? [this.#number(NOTHING, visit)] : numbered };
  }

  #number({ text, held, ...condition }: Condition, visit: (held: Held) => number): NumberedCondition {
    const number = this.#texts.get(text) ?? this.#texts.size;
    this.#texts.set(text, number);
    return {
      text: number,
      held: held.map(visit),
      order: condition.order,
      isEmptyIfTrue: condition.isEmptyIfTrue,
    };
  }

  /** Schemas that are made while comparing are made of others, and compared with those that there are. */
  #vertexOf(held: Held): number {
    const numbers = this.#vertices[held.view];
    const known = numbers.get(held.schema);
    if (known !== undefined) return known;
    const number = this.#classes.length;
    numbers.set(held.schema, number);
    this.#classes.push(number);
    const signature = signatureOf(
      this.#vertex(held, (inner) => this.#vertexOf(inner)),
      this.#classes,
    );
    this.#classes[number] = this.#bySignature.get(signature) ?? number;
    this.#bySignature.set(signature, this.#classes[number] ?? number);
    return number;
  }
}

/** The class of each vertex: the index of the first of its class. The first of all is that of `true`. */
function refined(vertices: readonly Vertex[]): number[] {
  let classes: readonly number[] = vertices.map(() => 0);
  for (let count = 1; ;) {
    const numbers = new Map<string, number>();
    const before = classes;
    classes = vertices.map((vertex, index) => {
      const signature = `${before[index]} ${signatureOf(vertex, before)}`;
      const number = numbers.get(signature) ?? index;
      numbers.set(signature, number);
      return number;
    });
    if (numbers.size === count) return [...classes];
    count = numbers.size;
  }
}

function signatureOf({ conditions }: Vertex, classes: readonly number[]): string {
  const keys = conditions.map((condition) => keyOf(condition, classes));
  return [...new Set(keys.filter((key) => key !== undefined))].sort().join(';');
}

/** @returns undefined where the condition asks nothing */
function keyOf(
  { text, held, order, isEmptyIfTrue }: NumberedCondition,
  classes: readonly number[],
): string | undefined {
  const numbers = held.map((vertex) => classes[vertex] ?? 0);
  if (isEmptyIfTrue && numbers[0] === classes[0]) return undefined;
  if (order === 'list') return `${text}:${numbers.join()}`;
  const sorted = (order === 'set' ? [...new Set(numbers)] : numbers).sort((one, other) => one - other);
  return `${text}:${sorted.join()}`;
}
