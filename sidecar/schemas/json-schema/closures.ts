import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import {
  alwaysAppliedSchemas,
  namedSchemasIn,
  schemaIn,
  schemasIn,
  type ReferenceTargets,
} from './flatten.js';

/**
 * Properties that a schema evaluates under certain circumstances: those with given names, those that match a pattern,
 * or all.
 */
export interface Evaluation {
  /** The schemas that the object satisfies under these circumstances. */
  readonly circumstances: readonly Schema[];
  readonly names: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
  readonly isOfAll: boolean;
}

/** A condition on all properties that a schema does not evaluate: each of them must satisfy `rest`. */
export interface Closure {
  readonly evaluations: readonly Evaluation[];
  readonly rest: Schema;
}

/** The keywords that state a condition on all other properties. */
export type ClosingKeyword = 'additionalProperties' | 'unevaluatedProperties';

const CLOSING: readonly ClosingKeyword[] = ['additionalProperties', 'unevaluatedProperties'];

/** Maximum number of subschemas examined to find out what a schema evaluates. */
const MAX_PARTS = 500;

/** The closures of a schema's own keywords. */
export function closuresOf(schema: JsonObject, targets: ReferenceTargets): readonly Closure[] {
  return CLOSING.flatMap((keyword) => closureOf(schema, keyword, targets) ?? []);
}

/** The closure of one keyword; undefined if the schema does not have the keyword, or has too many parts to examine. */
export function closureOf(
  schema: JsonObject,
  keyword: ClosingKeyword,
  targets: ReferenceTargets,
): Closure | undefined {
  const rest = schemaIn(schema, keyword);
  if (rest === undefined) return undefined;
  if (keyword === 'additionalProperties') return { rest, evaluations: [ownEvaluation(schema, [])] };
  const evaluations = evaluationsOf(schema, targets);
  return evaluations && { rest, evaluations };
}

/** Whether the evaluation covers a property with that name, under its circumstances. */
export function isEvaluated(name: string, { names, patterns, isOfAll }: Evaluation): boolean {
  return isOfAll || names.has(name) || [...patterns].some((pattern) => isMatch(pattern, name));
}

/** Whether a name matches a pattern, executed as validators do. A pattern that cannot be compiled matches nothing. */
export function isMatch(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    return false;
  }
}

/**
 * Everything that a schema with `unevaluatedProperties` evaluates, apart from that keyword itself. Undefined if there
 * are too many parts to examine.
 */
function evaluationsOf(schema: JsonObject, targets: ReferenceTargets): readonly Evaluation[] | undefined {
  const found: Evaluation[] = [];
  const open: (readonly [Schema, readonly Schema[]])[] = [[schema, []]];
  let left = MAX_PARTS;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, circumstances] = next;
    for (const atom of alwaysAppliedSchemas([part], targets).filter(isObject)) {
      if ((left -= 1) < 0) return undefined;
      const own = ownEvaluation(atom, circumstances);
      const closing = CLOSING.filter((keyword) => atom !== schema || keyword === 'additionalProperties');
      const isOfAll = closing.some((keyword) => schemaIn(atom, keyword) !== undefined);
      if (isOfAll || own.names.size > 0 || own.patterns.size > 0) found.push({ ...own, isOfAll });
      for (const [inner, circumstance] of conditionalPartsOf(atom))
        open.push([inner, [...circumstances, circumstance]]);
    }
  }
  return found;
}

function ownEvaluation(schema: JsonObject, circumstances: readonly Schema[]): Evaluation {
  return {
    circumstances,
    names: new Set(namedSchemasIn(schema, 'properties').keys()),
    patterns: new Set(namedSchemasIn(schema, 'patternProperties').keys()),
    isOfAll: false,
  };
}

/** The subschemas that apply to the same object under a condition, each with that condition. `not` evaluates nothing. */
function* conditionalPartsOf(atom: JsonObject): Iterable<readonly [Schema, Schema]> {
  for (const keyword of ['anyOf', 'oneOf']) for (const one of schemasIn(atom, keyword)) yield [one, one];
  const condition = schemaIn(atom, 'if');
  if (condition !== undefined) {
    yield [condition, condition];
    const [then, other] = [schemaIn(atom, 'then'), schemaIn(atom, 'else')];
    if (then !== undefined) yield [then, condition];
    if (other !== undefined) yield [other, { not: condition }];
  }
  for (const keyword of ['dependentSchemas', 'dependencies'])
    for (const [name, held] of namedSchemasIn(atom, keyword)) yield [held, { required: [name] }];
}
