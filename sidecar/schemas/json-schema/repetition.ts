import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import { type FlatSchema, targetOf, type Targets } from './flatten.js';
import { subschemasOf } from './keywords.js';

/** Keywords whose schemas apply to the same value as the schema that they are in. */
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
 * How often a validator that remembers nothing may check a part of a value for each check of the value around it: several
 * schemas apply to one value, and lead back to where they are from further inside of it. Of a filter of four kinds, such as
 * `and` and `or`, each level is checked four times as often as the one around it: twelve levels are sixteen million checks.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function repetitionOf({ root, targets }: Pick<FlatSchema, 'root' | 'targets'>): number {
  return isObject(root) ? new Cycles(targets).repetitionFrom(root) : 1;
}

/** One schema within another that is gone through. */
interface Step {
  readonly to: JsonObject;
  /** The keyword, or pattern, by which it applies to a part of the value; undefined where it applies to the same value. */
  readonly part: string | undefined;
}

/** Finds the schemas that lead to each other and back, after Tarjan. */
class Cycles {
  readonly #targets: Targets;
  readonly #numbers = new Map<JsonObject, number>();
  /** Schemas that may still turn out to lead back to each other. */
  readonly #open: JsonObject[] = [];
  readonly #isOpen = new Set<JsonObject>();
  #repetition = 1;

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  repetitionFrom(root: JsonObject): number {
    this.#enter(root);
    return this.#repetition;
  }

  /** Returns the lowest number among the schemas that this one leads back to. */
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

  /** Closes the group of schemas that lead back to the first one, and counts their ways into a value. */
  #close(first: JsonObject): void {
    const together = new Set(this.#open.splice(this.#open.lastIndexOf(first)));
    const ways = new Map<JsonObject, number>();
    for (const schema of together) {
      this.#isOpen.delete(schema);
      this.#repetition = Math.max(this.#repetition, this.#waysFrom(schema, together, ways));
    }
  }

  /** In how many ways a schema leads to one part of a value, through schemas of its group. */
  #waysFrom(schema: JsonObject, together: ReadonlySet<JsonObject>, ways: Map<JsonObject, number>): number {
    const known = ways.get(schema);
    if (known !== undefined) return known;
    // A reference to itself, which is refused elsewhere, ends here.
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
