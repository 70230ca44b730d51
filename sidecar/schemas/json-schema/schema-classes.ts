import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import { type Condition, conditionsOf, type HeldSubschema, type Aspect } from './conditions.js';
import { alwaysAppliedSchemas, type ReferenceTargets } from './flatten.js';

/** A condition of a schema, with a key: conditions with the same key are equivalent. */
interface KeyedCondition {
  readonly keyword: string;
  readonly key: string;
}

/** The conditions of a schema in one aspect, including those of its `$ref` and `allOf`. */
interface Vertex {
  /** The conditions without subschemas, as a text. */
  readonly own: string;
  /** The conditions that hold subschemas, in the order of their texts, so that their keys are almost in order. */
  readonly conditions: readonly NumberedCondition[];
}

/** The conditions of the schema `false`. */
const NOTHING: Vertex = { own: 'nothing', conditions: [] };

/** Vertices without subschemas, by what their schemas state: versions of a model have most of them in common. */
const leaves = new WeakMap<readonly Condition[], Vertex>();

interface NumberedCondition {
  /** A number that stands for the text, and a colon. */
  readonly text: string;
  readonly held: readonly number[];
  readonly order: Condition['order'];
  readonly isEmptyIfTrue: boolean;
}

/**
 * Groups schemas into numbered classes. Schemas of the same class accept the same values, because they state the same
 * conditions: in whatever order, written in place, by reference or in `allOf`, and however they refer to themselves.
 * Annotations do not count. A described property does count, even if it may have any value.
 *
 * The algorithm is partition refinement: all schemas start in one class. As long as a class has schemas that differ
 * in their own conditions or in the classes of their subschemas, it is split. What remains is the coarsest partition
 * in which schemas of one class agree in both.
 *
 * This works for recursive schemas: to tell two schemas of one class apart, a value would have to be nested without
 * end.
 */
export class SchemaClasses {
  readonly #targets: ReferenceTargets;
  readonly #texts = new Map<string, string>();
  readonly #vertices: Readonly<Record<Aspect, Map<Schema, number>>> = {
    validity: new Map(),
    properties: new Map(),
    items: new Map(),
  };
  readonly #classes: number[];
  /** Classes by the signature of their conditions. */
  readonly #bySignature: Map<string, number>;
  readonly #keyed = new Map<JsonObject, readonly KeyedCondition[]>();

  /** @param roots the schemas to compare; they are compared together with all their subschemas and references */
  constructor(roots: Iterable<Schema>, targets: ReferenceTargets) {
    this.#targets = targets;
    const { classes, bySignature } = refined(this.#explore([true, ...roots]));
    this.#classes = classes;
    this.#bySignature = bySignature;
  }

  of(schema: Schema): number {
    return this.#classes[this.#vertexOf({ schema, aspect: 'validity' })] ?? 0;
  }

  areSame(one: Schema, other: Schema): boolean {
    return one === other || this.of(one) === this.of(other);
  }

  /** Whether the schema has no conditions. */
  isTrue(schema: Schema): boolean {
    return this.areSame(schema, true);
  }

  /** The conditions of a schema's own keywords, without those of its `$ref` and `allOf`. */
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
    const open: HeldSubschema[] = [];
    const visit = (held: HeldSubschema): number => {
      const numbers = this.#vertices[held.aspect];
      const number = numbers.get(held.schema) ?? open.length;
      if (number === open.length) {
        numbers.set(held.schema, number);
        open.push(held);
      }
      return number;
    };
    for (const schema of roots) visit({ schema, aspect: 'validity' });
    // `open` grows during the iteration.
    for (const held of open) vertices.push(this.#vertex(held, visit));
    return vertices;
  }

  #vertex({ schema, aspect }: HeldSubschema, visit: (held: HeldSubschema) => number): Vertex {
    const schemas = alwaysAppliedSchemas([schema], this.#targets);
    // `false` refuses every value, so other conditions next to it do not matter.
    if (schemas.includes(false)) return NOTHING;
    const [only, ...others] = schemas.filter(isObject).map((atom) => conditionsOf(atom, aspect));
    const stated = others.length === 0 ? (only ?? []) : [...(only ?? []), ...others.flat()];
    const known = leaves.get(stated);
    if (known !== undefined) return known;
    const own = stated.filter(({ subschemas }) => subschemas.length === 0).map(({ text }) => text);
    const conditions = stated
      .filter(({ subschemas }) => subschemas.length > 0)
      .map((condition) => this.#number(condition, visit))
      .sort((one, other) => (one.text < other.text ? -1 : 1));
    const vertex = { own: JSON.stringify([...new Set(own)].sort()), conditions };
    if (conditions.length === 0) leaves.set(stated, vertex);
    return vertex;
  }

  #number(
    { text, subschemas, order, isEmptyIfTrue }: Condition,
    visit: (held: HeldSubschema) => number,
  ): NumberedCondition {
    return { text: `${this.#numberOf(text)}:`, held: subschemas.map(visit), order, isEmptyIfTrue };
  }

  #numberOf(text: string): string {
    const number = this.#texts.get(text) ?? String(this.#texts.size);
    this.#texts.set(text, number);
    return number;
  }

  /**
   * Finds or adds the vertex of a schema. Schemas made during the comparison consist of known ones, so no new
   * refinement is needed.
   */
  #vertexOf(held: HeldSubschema): number {
    const numbers = this.#vertices[held.aspect];
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

/** The class of each vertex, which is the index of the first vertex in it, and the classes by the signatures. */
interface Partition {
  readonly classes: number[];
  readonly bySignature: Map<string, number>;
}

function partition(signatures: readonly string[]): Partition {
  const bySignature = new Map<string, number>();
  const classes = signatures.map((signature, index) => {
    const number = bySignature.get(signature) ?? index;
    bySignature.set(signature, number);
    return number;
  });
  return { classes, bySignature };
}

/** Returns the classes of the vertices. The first vertex is the schema `true`. */
function refined(vertices: readonly Vertex[]): Partition {
  for (let coarse = partition(vertices.map(({ own }) => own)); ;) {
    const { classes } = coarse;
    const fine = partition(vertices.map((vertex) => signatureOf(vertex, classes)));
    // No class was split, so the signatures are those by the final classes.
    if (fine.bySignature.size === coarse.bySignature.size) return fine;
    coarse = fine;
  }
}

/** Vertices that differ by some classes also differ by finer ones. */
function signatureOf({ own, conditions }: Vertex, classes: readonly number[]): string {
  if (conditions.length === 0) return own;
  const keys = conditions.map((condition) => keyOf(condition, classes)).filter((key) => key !== undefined);
  return keys.length === 0 ? own : `${own};${[...new Set(keys)].sort().join(';')}`;
}

/** @returns undefined if the condition has no effect */
function keyOf(
  { text, held, order, isEmptyIfTrue }: NumberedCondition,
  classes: readonly number[],
): string | undefined {
  const numbers = held.map((vertex) => classes[vertex] ?? 0);
  if (isEmptyIfTrue && numbers[0] === classes[0]) return undefined;
  if (order === 'list') return `${text}${numbers.join()}`;
  const sorted = (order === 'set' ? [...new Set(numbers)] : numbers).sort((one, other) => one - other);
  return `${text}${sorted.join()}`;
}
