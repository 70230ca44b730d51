import { fullFormats } from 'ajv-formats/dist/formats.js';
import { _, Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type JsonObject, member, objectOf } from '../../shared/json/json.js';
import { schemasIn } from './flat-graph.js';
import { flatten, selfContained, type FlatSchema } from './flatten.js';
import { ASSERTIONS } from './keywords.js';
import type { LinkedSchema } from './linker.js';
import { type Compile, type Validate, validatingExactly, withCountsAsDoubles } from './exact-numbers.js';

export type { Validate } from './exact-numbers.js';

/** Keywords on what no other keyword of the schema has looked at. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];

/** Keywords on properties that depend on each other, and keywords on items that do. */
const PROPERTY_KEYWORDS = ['properties', 'patternProperties', 'additionalProperties'];
const TUPLE_KEYWORDS = ['prefixItems', 'items'];

/** Schemas whose code is optimized have no more positions than this. */
const MAX_OPTIMIZED = 300;

/** A validator, and the schema as it was compiled: flat, and of keywords that assert something only. */
export interface CompiledSchema {
  readonly flat: FlatSchema;
  readonly validate: Validate;
}

export interface CompileOptions {
  /** Whether validation may end at the first fault, so that its cost is bounded however wrong a document is. */
  readonly stopsAtFirst?: boolean;
  /** Whether the code is made for speed, where that takes no longer than making it. True when left out. */
  readonly isOptimized?: boolean;
}

/**
 * Compiles a schema of any supported draft. Formats are asserted where they are known and accepted where not, unknown
 * keywords are ignored, patterns are ECMA-262 expressions with the flag `u`.
 *
 * To be run in a worker: patterns may backtrack for ever, and large schemas compile slowly.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function createValidator(linked: LinkedSchema): Validate {
  return compileSchema(linked).validate;
}

/**
 * As {@link createValidator}, for who needs the schema itself as well, to explain what is wrong.
 *
 * @throws {RangeError} as {@link createValidator} does
 */
export function compileSchema(
  linked: LinkedSchema,
  { stopsAtFirst = false, isOptimized = true }: CompileOptions = {},
): CompiledSchema {
  const has = (keyword: string) =>
    [...linked.positions.values()].some(({ schema }) => isObject(schema) && Object.hasOwn(schema, keyword));
  const tracksEvaluated = UNEVALUATED.some(has);
  // Ajv gives some keywords of other vocabularies a meaning of its own, and fails on others.
  const flat = flatten(linked, {
    keeps: (keyword) => ASSERTIONS.has(keyword),
    finish: (schema) =>
      countingContains(
        withTuplesApart(
          tracksEvaluated ? withPatternsApart(withCountsAsDoubles(schema)) : withCountsAsDoubles(schema),
        ),
      ),
  });
  const schema = selfContained(flat);
  const compile = compilerOf(schema, {
    tracksEvaluated,
    // Ajv's code that stops at the first fault is wrong for some schemas with these keywords.
    allErrors: !stopsAtFirst || tracksEvaluated || has('contains'),
    // What optimizing takes grows with the square of the code, and gains a few microseconds a document.
    optimize: isOptimized && linked.positions.size <= MAX_OPTIMIZED,
  });
  return { flat, validate: validatingExactly(schema, compile) };
}

interface CompilerSettings {
  readonly tracksEvaluated: boolean;
  readonly allErrors: boolean;
  readonly optimize: boolean;
}

/** Compiles the schema, as often as it is asked to; it keeps nothing else. */
function compilerOf(schema: JsonObject, { tracksEvaluated, allErrors, optimize }: CompilerSettings): Compile {
  return (prepare) => {
    // The schema was checked against its own draft's meta-schema, and conversion keeps it valid.
    const ajv = new Ajv2020({
      ...{ strict: false, allErrors, ownProperties: true, validateSchema: false, meta: false, logger: false },
      ...{ formats: fullFormats, code: { optimize } },
    });
    // The constructor turns it on for all; it costs time, and is of use only with these keywords.
    ajv.opts.unevaluated = tracksEvaluated;
    if (tracksEvaluated) for (const keyword of ['anyOf', 'oneOf']) collectApart(ajv, keyword);
    prepare(ajv);
    return ajv.compile(schema);
  };
}

/**
 * Has the properties collected that the fitting branches of a keyword evaluate. Without a variable for them, Ajv's code takes over
 * that of the first branch which has one, and what a branch evaluates that does not fit counts as well.
 */
function collectApart(ajv: Ajv2020, keyword: string): void {
  const definition = ajv.getKeyword(keyword);
  if (typeof definition !== 'object' || !('code' in definition)) throw new TypeError(`Ajv lacks ${keyword}.`);
  const { code } = definition;
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    ...definition,
    code(context, ruleType) {
      context.it.props ??= context.gen.var('props', _`{}`);
      code(context, ruleType);
    },
  });
}

/**
 * Has the items counted that `contains` asks for. Ajv's other code for it, where one item is enough, keeps its finding in a
 * variable that an empty array leaves as the array before it had set it: in `[[1], []]`, the second item would contain what
 * the first one does.
 */
function countingContains(schema: JsonObject): JsonObject {
  const isCounted = Object.hasOwn(schema, 'maxContains') || (member(schema, 'minContains') ?? 1) !== 1;
  if (!Object.hasOwn(schema, 'contains') || isCounted) return schema;
  return { ...schema, maxContains: Number.MAX_SAFE_INTEGER };
}

/**
 * Moves `patternProperties`, with the keywords that belong to it, into a schema of its own. Ajv's code for it takes the
 * evaluated properties to be known there; after `anyOf` and the like they may not be, and it throws a TypeError.
 */
function withPatternsApart(schema: JsonObject): JsonObject {
  return Object.hasOwn(schema, 'patternProperties') ? withApart(schema, PROPERTY_KEYWORDS) : schema;
}

/**
 * Moves `prefixItems` and `items` into a schema of their own, where other keywords look at all items. Where it may stop at the
 * first fault, as it always may within `not` and `if`, Ajv's code for `prefixItems` passes over the keywords after it for an
 * array that is shorter: an empty one would contain anything. And `uniqueItems` takes all items to be of the type that `items`
 * beside it asks for: others, which `prefixItems` describes, could be repeated.
 */
function withTuplesApart(schema: JsonObject): JsonObject {
  const looksAtAll = Object.hasOwn(schema, 'contains') || Object.hasOwn(schema, 'uniqueItems');
  return looksAtAll && Object.hasOwn(schema, 'prefixItems') ? withApart(schema, TUPLE_KEYWORDS) : schema;
}

/** The same schema, with these of its keywords as the first in its `allOf`. */
function withApart(schema: JsonObject, keywords: readonly string[]): JsonObject {
  const entries = Object.entries(schema);
  const own = objectOf(entries.filter(([keyword]) => keywords.includes(keyword)));
  const others = objectOf(entries.filter(([keyword]) => !keywords.includes(keyword)));
  return { ...others, allOf: [own, ...schemasIn(schema, 'allOf')] };
}
