import {
  isArray,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerOf,
  type Schema,
} from '../../shared/json/json.js';
import { type Evaluation, unevaluatedIndexes, unevaluatedMembers } from './evaluated.js';
import { type FlatSchema, namedSchemasIn, schemaIn, schemasIn, targetOf, type Targets } from './flatten.js';
import { usesUnevaluated } from './keywords.js';
import { alternativeIssues, ambiguity, negationIssue, ruledOut } from './alternative-issues.js';
import {
  arrayIssues,
  kindIssue,
  numberIssues,
  objectIssues,
  stringIssues,
  unknownItem,
  unknownMember,
} from './keyword-issues.js';
import { type Issue, isScalar, Place } from './issue.js';
import { mergeIssues } from './merge-issues.js';
import { Spelling } from './spelling.js';
import { type Meant, sentenceOf, type Words } from './words.js';

/** A mistake in a document, according to its schema. */
export interface Explained {
  /** Reference tokens (RFC 6901) of the value that is wrong, or of the object in which a member is missing. */
  readonly tokens: readonly string[];
  /** The JSON Schema keyword that the document violates. */
  readonly keyword: string;
  /** The member that is missing. */
  readonly missing?: string;
  /** Set if the mistake is about the member that `tokens` lead to, rather than about its value. */
  readonly ofMember?: true;
  /** Returns the predicate of a sentence about the value, such as `must be at least 0, is -3`. Made on demand. */
  readonly say: () => string;
  /** Returns what was probably meant, if that is known. */
  readonly meant?: () => Meant | undefined;
}

/**
 * Explains what is wrong with a document: one entry for each mistake, in no particular order, at most some thousand.
 * If nothing can be explained the result is empty, but the document may still be invalid.
 *
 * @param spelling finds what misspelt words were meant to be
 * @throws {RangeError} when document and schema together nest too deeply for the stack, or are too large
 */
export function explain(
  { root, targets }: Pick<FlatSchema, 'root' | 'targets'>,
  document: JsonValue,
  spelling: Spelling = new Spelling(),
): readonly Explained[] {
  const issues = mergeIssues(new Explainer(targets).faultsOf(root, new Place(document)), spelling);
  return issues.map(({ place, keyword, missing, ofMember, words }) => {
    let made: Words | undefined;
    const once = (): Words => (made ??= words(spelling));
    return {
      tokens: place.tokens,
      keyword,
      ...(missing === undefined ? {} : { missing }),
      ...(ofMember === undefined ? {} : { ofMember }),
      say: () => sentenceOf(once()),
      meant: () => once().meant,
    };
  });
}

/** A fault that a validator finds in a document, and its place: a JSON pointer into the document. */
export interface Fault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  /** The missing property. Ajv's own errors do not set it. */
  readonly missing?: string;
}

/**
 * Finds the faults of a document, to decide whether it is valid: the result is empty if and only if it is.
 *
 * @throws {RangeError} when document and schema together nest too deeply for the stack
 */
export function faultsOf(
  { root, targets }: Pick<FlatSchema, 'root' | 'targets'>,
  document: JsonValue,
): readonly Fault[] {
  const issues = new Explainer(targets, Infinity).faultsOf(root, new Place(document));
  return issues.map(({ place, keyword, missing, words }) => ({
    instancePath: pointerOf(place.tokens),
    keyword,
    get message() {
      return sentenceOf(words(new Spelling()));
    },
    ...(missing === undefined ? {} : { missing }),
  }));
}

/** Maximum number of issues collected for one schema at one place; far more than are shown. */
const MAX_ISSUES = 1000;

/** Maximum number of checks of an array or object against a schema: each result takes some 400 bytes until the end. */
const MAX_LOOKS = 300_000;

const NONE: readonly Issue[] = [];

const ALTERNATIVES = ['anyOf', 'oneOf'];
const CONDITIONS = ['not', 'if', 'dependentSchemas', 'dependencies'];

/** The keywords that {@link kindIssue} checks. */
const OF_KIND: ReadonlySet<string> = new Set(['type', 'enum', 'const']);

/** Whether a schema has keywords other than `type`, `enum` and `const`; most schemas of scalars do not. */
function saysMore(schema: JsonObject): boolean {
  for (const keyword of Object.keys(schema)) if (!OF_KIND.has(keyword)) return true;
  return false;
}

/**
 * Finds what is wrong with a document according to a flat schema, the way a person would put it: if no alternative
 * fits, it reports the issues of the one that was meant.
 *
 * A validator's list of errors does not tell which alternative an error belongs to if references lie between them.
 * This class therefore evaluates the schema itself.
 */
class Explainer {
  readonly #targets: Targets;
  readonly #mostLooks: number;
  readonly #patterns = new Map<string, RegExp>();
  /** The issues of arrays and objects: alternatives check the same ones again and again. */
  readonly #found = new Map<Place, Map<JsonObject, readonly Issue[]>>();
  #looks = 0;

  constructor(targets: Targets, mostLooks = MAX_LOOKS) {
    this.#targets = targets;
    this.#mostLooks = mostLooks;
  }

  /** @throws {RangeError} when document and schema together nest too deeply for the stack, or are too large */
  faultsOf(schema: Schema, place: Place): readonly Issue[] {
    if (!isObject(schema)) return schema ? [] : [ruledOut(place)];
    if (isScalar(place.value)) return this.#look(schema, place);
    const known = this.#found.get(place) ?? new Map<JsonObject, readonly Issue[]>();
    this.#found.set(place, known);
    const before = known.get(schema);
    if (before !== undefined) return before;
    this.#looks += 1;
    if (this.#looks > this.#mostLooks)
      throw new RangeError(`More than ${this.#mostLooks} schemas of arrays and objects.`);
    // A schema that leads back to itself at the same place adds no issues.
    known.set(schema, []);
    const all = this.#look(schema, place);
    const found = all.length > MAX_ISSUES ? all.slice(0, MAX_ISSUES) : all;
    known.set(schema, found);
    return found;
  }

  #look(schema: JsonObject, place: Place): readonly Issue[] {
    const wrongKind = kindIssue(schema, place);
    if (wrongKind !== undefined) return [wrongKind];
    if (!saysMore(schema)) return NONE;
    const own = this.#own(schema, place);
    const brought = this.#brought(schema, place);
    const unevaluated = this.#unevaluated(schema, place);
    const isOwnAll = brought.length === 0 && unevaluated.length === 0;
    return isOwnAll ? own : [...own, ...brought, ...unevaluated];
  }

  #own(schema: JsonObject, place: Place): readonly Issue[] {
    const { value } = place;
    if (isNumber(value)) return numberIssues(schema, place, value);
    if (typeof value === 'string') return stringIssues(schema, place, value, this.#patternOf);
    if (isArray(value)) return arrayIssues(schema, place, value, this.#check, MAX_ISSUES);
    if (isObject(value)) return objectIssues(schema, place, value, this.#check, this.#patternOf, MAX_ISSUES);
    return NONE;
  }

  /** The issues by schemas that apply to the same value. */
  #brought(schema: JsonObject, place: Place): readonly Issue[] {
    const found: Issue[] = [];
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

  #alternatives(keyword: string, schema: JsonObject, place: Place): readonly Issue[] {
    const branches = schemasIn(schema, keyword).map((one) => this.faultsOf(one, place));
    const fitting = branches.flatMap((branch, index) => (branch.length === 0 ? [index] : []));
    if (fitting.length === 0) return alternativeIssues(keyword, place, branches);
    const isOneTooMany = keyword === 'oneOf' && fitting.length > 1;
    return isOneTooMany ? [ambiguity(place, fitting, branches.length)] : NONE;
  }

  #conditions(schema: JsonObject, place: Place): readonly Issue[] {
    const { value } = place;
    const found: Issue[] = [];
    const excluded = schemaIn(schema, 'not');
    if (excluded !== undefined && this.faultsOf(excluded, place).length === 0)
      found.push(negationIssue(excluded, place));
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

  #unevaluated(schema: JsonObject, place: Place): readonly Issue[] {
    if (!usesUnevaluated(schema)) return NONE;
    const { value } = place;
    const around: Evaluation = {
      targets: this.#targets,
      fits: (one) => this.faultsOf(one, place).length === 0,
      itemFits: (one, index) => this.faultsOf(one, place.child(index)).length === 0,
      patternOf: this.#patternOf,
    };
    if (isArray(value))
      return this.#refused('unevaluatedItems', schema, place, () =>
        unevaluatedIndexes(schema, value, around),
      );
    if (isObject(value))
      return this.#refused('unevaluatedProperties', schema, place, () =>
        unevaluatedMembers(schema, value, around),
      );
    return NONE;
  }

  /** The issues of the parts of a value that no other keyword evaluates, according to the keyword for unevaluated parts. */
  #refused(
    keyword: string,
    schema: JsonObject,
    place: Place,
    unevaluated: () => readonly (string | number)[],
  ): readonly Issue[] {
    const held = schemaIn(schema, keyword);
    if (held === undefined || held === true) return NONE;
    const found: Issue[] = [];
    for (const key of unevaluated()) {
      if (found.length >= MAX_ISSUES) break;
      const child = place.child(key);
      if (held !== false) found.push(...this.faultsOf(held, child));
      else found.push(isArray(place.value) ? unknownItem(child, keyword) : unknownMember(child, keyword));
    }
    return found;
  }

  readonly #check = (schema: Schema, place: Place): readonly Issue[] => this.faultsOf(schema, place);

  readonly #patternOf = (pattern: string): RegExp => {
    const known = this.#patterns.get(pattern) ?? new RegExp(pattern, 'u');
    this.#patterns.set(pattern, known);
    return known;
  };
}
