import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import { type FlatSchema, targetOf, type ReferenceTargets } from './flatten.js';
import { subschemasOf } from './keywords.js';

/** Keywords whose subschemas apply to the same value as the schema itself. */
const SAME_VALUE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);

/**
 * Returns how many times a validator without memoization may check a part of a value for each check of the value
 * around it. The number exceeds 1 if several schemas apply to one value, and each leads back to all of them further
 * inside. Take a filter with four operators, such as `and` and `or`: each level is checked four times as often as the
 * one around it, so twelve levels take sixteen million checks.
 *
 * The algorithm finds the groups of schemas that lead to each other (strongly connected components), and counts the
 * ways from each schema into a part of its value within the group.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function repetitionOf({ root, targets }: Pick<FlatSchema, 'root' | 'targets'>): number {
  return isObject(root) ? new Cycles(targets).repetitionFrom(root) : 1;
}

/** A step from a schema to one of its subschemas, or to the target of its reference. */
interface Step {
  readonly to: JsonObject;
  /** The keyword or pattern that selects a part of the value; undefined if `to` applies to the same value. */
  readonly part: string | undefined;
}

/** Finds the groups of schemas that lead to each other, by Tarjan's algorithm. */
class Cycles {
  readonly #targets: ReferenceTargets;
  readonly #numbers = new Map<JsonObject, number>();
  /** Schemas whose group is not complete yet. */
  readonly #open: JsonObject[] = [];
  readonly #isOpen = new Set<JsonObject>();
  #repetition = 1;

  constructor(targets: ReferenceTargets) {
    this.#targets = targets;
  }

  repetitionFrom(root: JsonObject): number {
    this.#enter(root);
    return this.#repetition;
  }

  /** Visits a schema. Returns the lowest number among the schemas that it leads back to. */
  #enter(schema: JsonObject): number {
    const number = this.#numbers.size;
    this.#numbers.set(schema, number);
    this.#open.push(schema);
    this.#isOpen.add(schema);
    let low = number;
    for (const { to } of this.#stepsFrom(schema)) {
      const known = this.#numbers.get(to);
      if (known === undefined) low = Math.min(low, this.#enter(to));
      else if (this.#isOpen.has(to)) low = Math.min(low, known);
    }
    if (low === number) this.#close(schema);
    return low;
  }

  /** Completes the group of schemas that starts with `first`, and counts their ways into a value. */
  #close(first: JsonObject): void {
    const together = new Set(this.#open.splice(this.#open.lastIndexOf(first)));
    const ways = new Map<JsonObject, number>();
    for (const schema of together) {
      this.#isOpen.delete(schema);
      this.#repetition = Math.max(this.#repetition, this.#waysFrom(schema, together, ways));
    }
  }

  /**
   * Counts the ways from a schema into a value through its group: one for each keyword or pattern of each schema that
   * applies to the value.
   */
  #waysFrom(schema: JsonObject, together: ReadonlySet<JsonObject>, ways: Map<JsonObject, number>): number {
    const known = ways.get(schema);
    if (known !== undefined) return known;
    // Ends the recursion for a schema that leads back to itself on the same value; that is rejected elsewhere.
    ways.set(schema, 0);
    const steps = this.#stepsFrom(schema).filter(({ to }) => together.has(to));
    const parts = new Set(steps.flatMap(({ part }) => part ?? []));
    let sum = parts.size;
    for (const { to, part } of steps) if (part === undefined) sum += this.#waysFrom(to, together, ways);
    ways.set(schema, sum);
    return sum;
  }

  #stepsFrom(schema: JsonObject): readonly Step[] {
    const target: Schema | undefined = targetOf(schema, this.#targets);
    const steps: Step[] = isObject(target) ? [{ to: target, part: undefined }] : [];
    for (const { tokens, schema: to, definition } of subschemasOf(schema, '2020-12')) {
      const [keyword, name] = tokens;
      if (!isObject(to) || definition) continue;
      const part = keyword === 'patternProperties' ? name : keyword;
      steps.push({ to, part: SAME_VALUE.has(keyword) ? undefined : part });
    }
    return steps;
  }
}
