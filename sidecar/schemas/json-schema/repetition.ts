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
 * Whether a validator that remembers nothing may check the same parts of a value again and again, each time twice as often or
 * more: several schemas apply to one value, and lead back to where they are from further inside of it. Twelve levels of a filter
 * of four kinds, such as `and` and `or`, are sixteen million checks.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function checksRepeatedly({ root, targets }: Pick<FlatSchema, 'root' | 'targets'>): boolean {
  return isObject(root) && new Cycles(targets).enter(root).isRepeated;
}

/** One schema within another that is gone through. */
interface Step {
  readonly to: JsonObject;
  readonly isSameValue: boolean;
}

/** How far out a schema leads back, and whether a repetition was found in what it leads to. */
interface Entered {
  readonly low: number;
  readonly isRepeated: boolean;
}

/** Finds the schemas that lead to each other and back, after Tarjan. */
class Cycles {
  readonly #targets: Targets;
  readonly #numbers = new Map<JsonObject, number>();
  /** Schemas that may still turn out to lead back to each other. */
  readonly #open: JsonObject[] = [];
  readonly #isOpen = new Set<JsonObject>();

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  enter(schema: JsonObject): Entered {
    const number = this.#numbers.size;
    this.#numbers.set(schema, number);
    this.#open.push(schema);
    this.#isOpen.add(schema);
    let low = number;
    for (const { to } of this.#stepsFrom(schema)) {
      const known = this.#numbers.get(to);
      if (known === undefined) {
        const entered = this.enter(to);
        if (entered.isRepeated) return entered;
        low = Math.min(low, entered.low);
      } else if (this.#isOpen.has(to)) low = Math.min(low, known);
    }
    return { low, isRepeated: low === number && this.#close(schema) };
  }

  /** Takes the schemas that lead back to the last one that is open; whether checks of them are repeated. */
  #close(first: JsonObject): boolean {
    const together = new Set(this.#open.splice(this.#open.lastIndexOf(first)));
    for (const schema of together) this.#isOpen.delete(schema);
    return [...together].some((schema) => {
      const within = this.#stepsFrom(schema).filter(({ to }) => together.has(to));
      return within.length > 1 && within.some(({ isSameValue }) => isSameValue);
    });
  }

  #stepsFrom(schema: JsonObject): readonly Step[] {
    const target: Schema | undefined = targetOf(schema, this.#targets);
    const steps: Step[] = isObject(target) ? [{ to: target, isSameValue: true }] : [];
    for (const { tokens, schema: to, definition } of subschemasOf(schema, '2020-12'))
      if (isObject(to) && !definition) steps.push({ to, isSameValue: SAME_VALUE.has(tokens[0]) });
    return steps;
  }
}
