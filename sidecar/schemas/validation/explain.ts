import { isArray, isObject, type JsonObject, type JsonValue, type Schema } from '../../shared/json/json.js';
import { namedSchemasIn, schemaIn, schemasIn, targetOf } from '../json-schema/flat-graph.js';
import type { FlatSchema, Targets } from '../json-schema/flatten.js';
import { alternativeFaults, ambiguity, negationFault, ruledOut } from './alternative-issues.js';
import { arrayFaults } from './array-issues.js';
import { type Fault, isScalar, Place } from './issue.js';
import { tidy } from './merge-issues.js';
import { evaluatedItems, evaluatesMember, objectFaults, unknownMember } from './object-issues.js';
import { kindFault, numberFaults, stringFaults } from './scalar-issues.js';
import { Spelling } from './spelling.js';
import { sentenceOf } from './words.js';

/** Something that is wrong with a document, by its schema. */
export interface Explained {
  /** Reference tokens (RFC 6901) of the value that is wrong; of what lacks a member, when one is missing. */
  readonly tokens: readonly string[];
  /** The JSON Schema keyword that asks for what is not so. */
  readonly keyword: string;
  /** The member that is missing. */
  readonly missing?: string;
  /** Set where it is said of the member that `tokens` lead to, and not of its value. */
  readonly ofMember?: true;
  /** Predicate of a sentence about the value: `must be at least 0, is -3`. Made when it is asked for. */
  readonly say: () => string;
}

/**
 * What is wrong with a document, one entry for each mistake, in no particular order; empty when nothing can be said of it,
 * which does not make it valid. At most some thousand.
 *
 * @param spelling finds what misspelt words are meant to be
 * @throws {RangeError} when document and schema together nest too deeply for the stack
 */
export function explain(
  { root, targets }: Pick<FlatSchema, 'root' | 'targets'>,
  document: JsonValue,
  spelling: Spelling = new Spelling(),
): readonly Explained[] {
  const faults = tidy(new Explainer(targets).faultsOf(root, new Place(document)), spelling);
  return faults.map(({ place, keyword, missing, ofMember, words }) => ({
    tokens: place.tokens,
    keyword,
    ...(missing === undefined ? {} : { missing }),
    ...(ofMember === undefined ? {} : { ofMember }),
    say: () => sentenceOf(words(spelling)),
  }));
}

/** Faults of one schema in one place that are looked for; far more than are shown. */
const FAULTS_MAX = 1000;

const NONE: readonly Fault[] = [];

const ALTERNATIVES = ['anyOf', 'oneOf'];
const CONDITIONS = ['not', 'if', 'dependentSchemas', 'dependencies'];
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];

/** Keywords that say all they do of the kind of value. */
const OF_KIND: ReadonlySet<string> = new Set(['type', 'enum', 'const']);

/** Whether a schema has keywords beyond those; most schemas of scalars have not. */
function saysMore(schema: JsonObject): boolean {
  for (const keyword of Object.keys(schema)) if (!OF_KIND.has(keyword)) return true;
  return false;
}

/**
 * Says what a flat schema has against a document, as people would: of alternatives the one that was meant.
 *
 * A validator's list of errors does not tell which alternative an error belongs to once references are between them; so
 * the schema is gone through once more. The validator alone says whether a document is valid.
 */
export class Explainer {
  readonly #targets: Targets;
  readonly #patterns = new Map<string, RegExp>();
  /** What was found of values that hold others: alternatives come to the same ones again and again. */
  readonly #found = new Map<Place, Map<JsonObject, readonly Fault[]>>();

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  /** @throws {RangeError} when document and schema together nest too deeply for the stack */
  faultsOf(schema: Schema, place: Place): readonly Fault[] {
    if (!isObject(schema)) return schema ? [] : [ruledOut(place)];
    if (isScalar(place.value)) return this.#look(schema, place);
    const known = this.#found.get(place) ?? new Map<JsonObject, readonly Fault[]>();
    this.#found.set(place, known);
    const before = known.get(schema);
    if (before !== undefined) return before;
    // A schema that comes back to itself in the same place has nothing to add.
    known.set(schema, []);
    const all = this.#look(schema, place);
    const found = all.length > FAULTS_MAX ? all.slice(0, FAULTS_MAX) : all;
    known.set(schema, found);
    return found;
  }

  #look(schema: JsonObject, place: Place): readonly Fault[] {
    const wrongKind = kindFault(schema, place);
    if (wrongKind !== undefined) return [wrongKind];
    if (!saysMore(schema)) return NONE;
    const own = this.#own(schema, place);
    const brought = this.#brought(schema, place);
    const unevaluated = this.#unevaluated(schema, place);
    const isOwnAll = brought.length === 0 && unevaluated.length === 0;
    return isOwnAll ? own : [...own, ...brought, ...unevaluated];
  }

  #own(schema: JsonObject, place: Place): readonly Fault[] {
    const { value } = place;
    if (typeof value === 'number') return numberFaults(schema, place, value);
    if (typeof value === 'string') return stringFaults(schema, place, value, this.#patternOf);
    if (isArray(value)) return arrayFaults(schema, place, value, this.#verdict, FAULTS_MAX);
    if (isObject(value))
      return objectFaults(schema, place, value, this.#verdict, this.#patternOf, FAULTS_MAX);
    return NONE;
  }

  /** By schemas that apply to the same value. */
  #brought(schema: JsonObject, place: Place): readonly Fault[] {
    const found: Fault[] = [];
    const target = targetOf(schema, this.#targets);
    if (target !== undefined) found.push(...this.faultsOf(target, place));
    if (Object.hasOwn(schema, 'allOf'))
      for (const one of schemasIn(schema, 'allOf')) found.push(...this.faultsOf(one, place));
    for (const keyword of ALTERNATIVES)
      if (Object.hasOwn(schema, keyword)) found.push(...this.#alternatives(keyword, schema, place));
    if (CONDITIONS.some((keyword) => Object.hasOwn(schema, keyword)))
      found.push(...this.#conditions(schema, place));
    return found;
  }

  #alternatives(keyword: string, schema: JsonObject, place: Place): readonly Fault[] {
    const branches = schemasIn(schema, keyword).map((one) => this.faultsOf(one, place));
    const fitting = branches.flatMap((branch, index) => (branch.length === 0 ? [index] : []));
    if (fitting.length === 0) return alternativeFaults(keyword, place, branches);
    const isOneTooMany = keyword === 'oneOf' && fitting.length > 1;
    return isOneTooMany ? [ambiguity(place, fitting, branches.length)] : NONE;
  }

  #conditions(schema: JsonObject, place: Place): readonly Fault[] {
    const { value } = place;
    const found: Fault[] = [];
    const excluded = schemaIn(schema, 'not');
    if (excluded !== undefined && this.faultsOf(excluded, place).length === 0)
      found.push(negationFault(excluded, place));
    const condition = schemaIn(schema, 'if');
    if (condition !== undefined) {
      const holds = this.faultsOf(condition, place).length === 0;
      const conclusion = schemaIn(schema, holds ? 'then' : 'else');
      if (conclusion !== undefined) found.push(...this.faultsOf(conclusion, place));
    }
    if (!isObject(value)) return found;
    for (const keyword of ['dependentSchemas', 'dependencies'])
      for (const [name, dependent] of namedSchemasIn(schema, keyword))
        if (Object.hasOwn(value, name)) found.push(...this.faultsOf(dependent, place));
    return found;
  }

  #unevaluated(schema: JsonObject, place: Place): readonly Fault[] {
    if (!UNEVALUATED.some((keyword) => Object.hasOwn(schema, keyword))) return NONE;
    const { value } = place;
    const found: Fault[] = [];
    const around = { targets: this.#targets, verdict: this.#verdict, patternOf: this.#patternOf };
    const members = isObject(value) ? schemaIn(schema, 'unevaluatedProperties') : undefined;
    if (members !== undefined && isObject(value)) {
      const isEvaluated = evaluatesMember(schema, place, around);
      for (const name of Object.keys(value)) {
        if (found.length >= FAULTS_MAX) break;
        if (isEvaluated(name)) continue;
        if (members === false) found.push(unknownMember(place.child(name), 'unevaluatedProperties'));
        else found.push(...this.faultsOf(members, place.child(name)));
      }
    }
    const items = isArray(value) ? schemaIn(schema, 'unevaluatedItems') : undefined;
    if (items !== undefined && isArray(value)) {
      const first = evaluatedItems(schema, place, around);
      for (let index = first; index < value.length && found.length < FAULTS_MAX; index += 1)
        found.push(...this.faultsOf(items, place.child(index)));
    }
    return found;
  }

  readonly #verdict = (schema: Schema, place: Place): readonly Fault[] => this.faultsOf(schema, place);

  readonly #patternOf = (pattern: string): RegExp => {
    const known = this.#patterns.get(pattern) ?? new RegExp(pattern, 'u');
    this.#patterns.set(pattern, known);
    return known;
  };
}
