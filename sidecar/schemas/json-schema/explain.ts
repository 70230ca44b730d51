import {
  isArray,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  type Schema,
} from '../../shared/json/json.js';
import { unevaluatedIn } from './evaluated.js';
import {
  dependentSchemasFor,
  type FlatSchema,
  schemaIn,
  schemasIn,
  targetOf,
  type ReferenceTargets,
} from './flatten.js';
import { alternativeIssues, ambiguityIssue, negationIssue, forbiddenIssue } from './alternative-issues.js';
import {
  arrayIssues,
  kindIssue,
  numberIssues,
  objectIssues,
  stringIssues,
  unknownItem,
  unknownMember,
} from './keyword-issues.js';
import { type Checker, type Issue, isScalar, InstanceLocation, MAX_ISSUES } from './issue.js';
import { mergeIssues } from './merge-issues.js';
import { Spelling } from './spelling.js';
import { type Correction, sentenceOf, type MessageParts } from './message-parts.js';

/** A mistake in a document, according to its schema. */
export interface Fault {
  /** Reference tokens (RFC 6901) of the value that is wrong, or of the object in which a member is missing. */
  readonly tokens: readonly string[];
  /** The JSON Schema keyword that the document violates. */
  readonly keyword: string;
  /** The member that is missing; not known of errors of Ajv. */
  readonly missing?: string | undefined;
  /** Set if the mistake is about the member that `tokens` lead to, rather than about its value. */
  readonly ofMember?: true | undefined;
  /** Returns the predicate of a sentence about the value, such as `must be at least 0, is -3`. Made on demand. */
  readonly predicate: () => string;
  /** Returns what was probably meant, if that is known. */
  readonly correction?: (() => Correction | undefined) | undefined;
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
): readonly Fault[] {
  const issues = new Explainer(targets).faultsOf(root, new InstanceLocation(document));
  return mergeIssues(issues, spelling).map((one) => faultOf(one, spelling));
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
  const issues = new Explainer(targets, Infinity).faultsOf(root, new InstanceLocation(document));
  const spelling = new Spelling();
  return issues.map((one) => faultOf(one, spelling));
}

function faultOf({ location, keyword, missing, ofMember, message }: Issue, spelling: Spelling): Fault {
  let made: MessageParts | undefined;
  const once = (): MessageParts => (made ??= message(spelling));
  return {
    tokens: location.tokens,
    keyword,
    missing,
    ofMember,
    predicate: () => sentenceOf(once()),
    correction: () => once().correction,
  };
}

/** Maximum number of checks of an array or object against a schema: each result takes some 400 bytes until the end. */
const MAX_CHECKS = 300_000;

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
class Explainer implements Checker {
  readonly targets: ReferenceTargets;
  readonly #maxChecks: number;
  readonly #patterns = new Map<string, RegExp>();
  /** The issues of arrays and objects: alternatives check the same ones again and again. */
  readonly #found = new Map<InstanceLocation, Map<JsonObject, readonly Issue[]>>();
  #checks = 0;

  constructor(targets: ReferenceTargets, mostLooks = MAX_CHECKS) {
    this.targets = targets;
    this.#maxChecks = mostLooks;
  }

  /** @throws {RangeError} when document and schema together nest too deeply for the stack, or are too large */
  faultsOf(schema: Schema, location: InstanceLocation): readonly Issue[] {
    if (!isObject(schema)) return schema ? [] : [forbiddenIssue(location)];
    if (isScalar(location.value))
      return this.#issuesOf(schema, location).map((one) =>
        one.types === undefined ? one : this.#correctedFor(schema, one),
      );
    const known = this.#found.get(location) ?? new Map<JsonObject, readonly Issue[]>();
    this.#found.set(location, known);
    const before = known.get(schema);
    if (before !== undefined) return before;
    this.#checks += 1;
    if (this.#checks > this.#maxChecks)
      throw new RangeError(`More than ${this.#maxChecks} schemas of arrays and objects.`);
    // A schema that leads back to itself at the same place adds no issues.
    known.set(schema, []);
    const all = this.#issuesOf(schema, location);
    const found = all.length > MAX_ISSUES ? all.slice(0, MAX_ISSUES) : all;
    known.set(schema, found);
    return found;
  }

  #issuesOf(schema: JsonObject, location: InstanceLocation): readonly Issue[] {
    const wrongKind = kindIssue(schema, location);
    if (wrongKind !== undefined) return [wrongKind];
    if (!saysMore(schema)) return NONE;
    const own = this.#issuesOfKeywords(schema, location);
    const brought = this.#issuesOfApplied(schema, location);
    const unevaluated = this.#unevaluated(schema, location);
    const isOwnAll = brought.length === 0 && unevaluated.length === 0;
    return isOwnAll ? own : [...own, ...brought, ...unevaluated];
  }

  /** The issue of a wrong type without a correction that the schema refuses as well, such as "12" for a date-time. */
  #correctedFor(schema: JsonObject, one: Issue): Issue {
    const message = (spelling: Spelling): MessageParts => {
      const parts = one.message(spelling);
      const { correction } = parts;
      const isRefused =
        correction !== undefined &&
        'value' in correction &&
        this.faultsOf(schema, new InstanceLocation(correction.value)).length > 0;
      return isRefused ? { ...parts, correction: undefined } : parts;
    };
    return { ...one, message };
  }

  #issuesOfKeywords(schema: JsonObject, location: InstanceLocation): readonly Issue[] {
    const { value } = location;
    if (isNumber(value)) return numberIssues(schema, location, value);
    if (typeof value === 'string') return stringIssues(schema, location, value, this);
    if (isArray(value)) return arrayIssues(schema, location, value, this);
    return isObject(value) ? objectIssues(schema, location, value, this) : NONE;
  }

  /** The issues by schemas that apply to the same value. */
  #issuesOfApplied(schema: JsonObject, location: InstanceLocation): readonly Issue[] {
    const found: Issue[] = [];
    const target = targetOf(schema, this.targets);
    if (target !== undefined) found.push(...this.faultsOf(target, location));
    if (Object.hasOwn(schema, 'allOf'))
      for (const one of schemasIn(schema, 'allOf')) found.push(...this.faultsOf(one, location));
    for (const keyword of ALTERNATIVES)
      if (Object.hasOwn(schema, keyword)) found.push(...this.#alternatives(keyword, schema, location));
    if (CONDITIONS.some((keyword) => Object.hasOwn(schema, keyword)))
      found.push(...this.#conditions(schema, location));
    return found;
  }

  #alternatives(keyword: string, schema: JsonObject, location: InstanceLocation): readonly Issue[] {
    const branches = schemasIn(schema, keyword).map((one) => this.faultsOf(one, location));
    const fitting = branches.flatMap((branch, index) => (branch.length === 0 ? [index] : []));
    if (fitting.length === 0) return alternativeIssues(keyword, location, branches);
    const isOneTooMany = keyword === 'oneOf' && fitting.length > 1;
    return isOneTooMany ? [ambiguityIssue(location, fitting, branches.length)] : NONE;
  }

  #conditions(schema: JsonObject, location: InstanceLocation): readonly Issue[] {
    const found: Issue[] = [];
    const excluded = schemaIn(schema, 'not');
    if (excluded !== undefined && this.faultsOf(excluded, location).length === 0)
      found.push(negationIssue(excluded, location));
    const condition = schemaIn(schema, 'if');
    if (condition !== undefined) {
      const holds = this.faultsOf(condition, location).length === 0;
      const conclusion = schemaIn(schema, holds ? 'then' : 'else');
      if (conclusion !== undefined) found.push(...this.faultsOf(conclusion, location));
    }
    for (const dependent of dependentSchemasFor(schema, location.value))
      found.push(...this.faultsOf(dependent, location));
    return found;
  }

  /** The issues of the parts of a value that no other keyword evaluates. */
  #unevaluated(schema: JsonObject, location: InstanceLocation): readonly Issue[] {
    const { value } = location;
    const keyword = isArray(value) ? 'unevaluatedItems' : 'unevaluatedProperties';
    const held = schemaIn(schema, keyword);
    if (held === undefined || held === true || isScalar(value)) return NONE;
    const found: Issue[] = [];
    for (const key of unevaluatedIn(schema, location, this)) {
      if (found.length >= MAX_ISSUES) break;
      const child = location.child(key);
      if (held !== false) found.push(...this.faultsOf(held, child));
      else found.push(isArray(value) ? unknownItem(child, keyword) : unknownMember(child, keyword));
    }
    return found;
  }

  patternOf(pattern: string): RegExp {
    const known = this.#patterns.get(pattern) ?? new RegExp(pattern, 'u');
    this.#patterns.set(pattern, known);
    return known;
  }
}
