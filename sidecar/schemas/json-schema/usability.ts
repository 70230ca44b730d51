import type { ErrorObject, ValidateFunction } from 'ajv/dist/ajv.js';
import { type InputIssue, isObject, type JsonObject, type Schema, tokensOf } from '../../shared/json/json.js';
import { withDoubles } from '../../shared/json/lossless-json.js';
import { issueFactoryOf, type Position, rootOf } from './document.js';
import { SchemaRefusedError } from './errors.js';
import { alternativesIn, flatten, schemasIn, targetOf } from './flatten.js';
import { type Dialect, DIALECT_URIS } from './keywords.js';
import { patternsOf } from './limits.js';
import type { LinkedSchema } from './linker.js';
import { metaSchemasOf } from './vocabularies.js';

/**
 * Finds what prevents a schema from being used: checks the value of every keyword, every pattern, and whether references
 * form loops. Empty if the schema is usable: what these checks accept also compiles.
 *
 * Must run in a worker.
 */
export function usabilityFaults(linked: LinkedSchema): readonly InputIssue[] {
  try {
    const faults = faultsOf(linked);
    return faults.length > 0 ? faults : loopsOf(linked);
  } catch (error) {
    if (error instanceof SchemaRefusedError) return error.errors;
    if (!(error instanceof RangeError)) throw error;
    return [{ pointer: '', detail: 'schemas are nested, or refer to each other, too deeply' }];
  }
}

/**
 * Finds references that lead back to themselves without descending into the value. Validation would never end, which
 * a schema must not cause (JSON Schema core, section 9.4.1).
 */
export function loopsOf(linked: LinkedSchema): readonly InputIssue[] {
  if (!linked.hasReferences) return [];
  const { targets, sources } = flatten(linked);
  const done = new Set<JsonObject>();
  /** The schemas on the path to the current one, in order. */
  const open = new Set<JsonObject>();
  const loops: InputIssue[] = [];
  const visit = (schema: Schema | undefined): void => {
    if (!isObject(schema) || done.has(schema)) return;
    if (open.has(schema)) {
      const loop = [...open].slice([...open].indexOf(schema));
      const referring = loop.find((one) => loop.some((other) => other === targetOf(one, targets)));
      const { document, tokens } = sources.get(referring ?? schema) ?? rootOf(linked.main);
      loops.push(
        issueFactoryOf(document, tokens)(
          ['$ref'],
          'leads back here without descending into the value, so validation would never end',
        ),
      );
      return;
    }
    open.add(schema);
    for (const next of [...schemasIn(schema, 'allOf'), ...alternativesIn(schema)]) visit(next);
    visit(targetOf(schema, targets));
    open.delete(schema);
    done.add(schema);
  };
  for (const schema of sources.keys()) visit(schema);
  return loops;
}

/** Maximum number of faults reported; more would not make it clearer that a schema is wrong. */
const MAX_FAULTS = 100;

/**
 * Finds everything in use that the meta-schema of its own draft rejects, and every pattern that is not an ECMA-262
 * regular expression.
 *
 * Must run in a worker.
 */
export function faultsOf(linked: LinkedSchema): readonly InputIssue[] {
  const faults = [
    ...linked.entries.flatMap(metaFaults),
    ...[...linked.positions.values()].filter(isOfOtherDialect).flatMap(metaFaults),
    ...[...linked.positions.values()].flatMap(patternFaults),
  ];
  const distinct = new Map(faults.map((fault) => [`${fault.pointer} ${fault.detail}`, fault]));
  return [...distinct.values()].slice(0, MAX_FAULTS);
}

/**
 * Whether a resource begins here whose draft differs from that of its document. It was only checked as part of the
 * document.
 */
function isOfOtherDialect({ isResource, dialect, document }: Position): boolean {
  return isResource && dialect !== document.dialect;
}

function metaFaults({ document, tokens, schema, dialect }: Position): readonly InputIssue[] {
  const validate = metaValidator(dialect);
  if (validate(isObject(schema) ? withDoubles(schema) : schema)) return [];
  const errors = validate.errors ?? [];
  const blame = issueFactoryOf(document, tokens);
  return errors
    .filter((error) => !isConsequence(error, errors))
    .map((error) => blame(tokensOf(error.instancePath) ?? [], describe(error)));
}

function metaValidator(dialect: Dialect): ValidateFunction {
  const validator = metaSchemasOf(dialect).getSchema(DIALECT_URIS[dialect]);
  if (validator === undefined) throw new Error(`No meta-schema for ${dialect}`);
  return validator;
}

/**
 * Whether an error only repeats what others say better. Of the errors of alternatives, only those of the alternative
 * that was meant matter. That no alternative matches is no information; nested errors are more specific than those at
 * the place itself; and an error about a value is more specific than one about its type.
 */
function isConsequence(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const { instancePath, keyword } = error;
  if (keyword === 'anyOf') return true;
  const isAlternative = errors.some(
    (other) => other.keyword === 'anyOf' && other.instancePath === instancePath,
  );
  if (!isAlternative) return false;
  const isFurtherIn = (other: ErrorObject) => other.instancePath.startsWith(`${instancePath}/`);
  const saysMore = (other: ErrorObject) =>
    other.instancePath === instancePath && !['anyOf', 'type'].includes(other.keyword);
  return errors.some(isFurtherIn) || (keyword === 'type' && errors.some(saysMore));
}

function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const name = tokensOf(instancePath)?.at(-1) ?? 'the schema';
  const types = keyword === 'type' ? [params.type as unknown].flat() : [];
  const hint = types.length === 0 ? undefined : OTHER_DRAFTS.get(name);
  if (types.length === 2 && types.every((type) => type === 'object' || type === 'boolean'))
    return `${name} must be a schema: an object, true or false${hint ?? ''}`;
  const allowed: unknown = keyword === 'enum' ? params.allowedValues : undefined;
  return `${name} ${message ?? 'is not valid'}${Array.isArray(allowed) ? `: ${allowed.join(', ')}` : ''}${hint ?? ''}`;
}

/** How other drafts use a keyword, and how it is written in the current draft. */
const OTHER_DRAFTS: ReadonlyMap<string, string> = new Map([
  ['items', '; draft 2020-12 has a list of schemas in prefixItems'],
  ['exclusiveMinimum', '; true next to minimum is draft-04 syntax'],
  ['exclusiveMaximum', '; true next to maximum is draft-04 syntax'],
  ['required', ' of names, next to properties'],
]);

function patternFaults({ document, tokens, schema }: Position): readonly InputIssue[] {
  return patternsOf(schema).flatMap(({ tokens: inner, pattern }) => {
    const reason = syntaxErrorOf(pattern);
    if (reason === undefined) return [];
    const detail = `pattern ${pattern.slice(0, 200)} is not an ECMA-262 regular expression: ${reason}`;
    return [issueFactoryOf(document, tokens)(inner, detail)];
  });
}

/** Why a pattern is not a regular expression with the flag `u`, which JSON Schema requires; undefined if it is one. */
function syntaxErrorOf(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'u');
    return undefined;
  } catch (error) {
    // V8 repeats the pattern before the reason.
    const reason = error instanceof Error ? (error.message.split(': ').at(-1) ?? '') : String(error);
    return isLoosePattern(pattern)
      ? `${reason}; with the flag u, which JSON Schema requires, characters such as - and @ must not have a backslash, and braces need one`
      : reason;
  }
}

/** Whether a pattern is a regular expression without the flag `u`. */
function isLoosePattern(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}
