import { type JsonObject, type JsonValue, isObject, member, itemsOf } from '../shared/json/json.js';
import { compilePattern, PatternTooLargeError, type Pattern } from '../ngsi-ld/pattern.js';
import { instantOf, temporalKindOf } from '../ngsi-ld/q-time.js';
import {
  hasLinkedEntityPath,
  mixesLogicalOperators,
  type QNode,
  type QOperand,
  type QOrderOperator,
  type QValue,
  type QPath,
} from '../ngsi-ld/q.js';
import { type StoredEntity, type Instance, canonicalName } from './model.js';
import { refusals } from './refusal.js';
import { MAIN_MEMBER } from './attribute-input.js';

export type EntityFilter = (entity: StoredEntity) => boolean;

/** Whether a negated term must hold for each instance of an attribute, or for at least one. */
export type Negation = 'each instance' | 'some instance';

/**
 * Makes the filter for a `q` query (clause 4.9). A term holds if it holds for some instance of the attribute; `!=` and
 * `!~=` must hold for every instance, unless `negation` says otherwise. Patterns are RE2 and may match anywhere in the
 * text.
 *
 * @throws Refusal BadRequestData for `;` mixed with `|` without brackets and for a pattern that RE2 cannot compile; 501
 * for paths over linked entities
 */
export function qFilter(node: QNode, negation: Negation = 'each instance'): EntityFilter {
  if (mixesLogicalOperators(node)) throw refusals.badRequest('q mixes ; and | without brackets');
  if (hasLinkedEntityPath(node))
    throw refusals.notImplemented('q with a path over linked entities is not supported');
  return compile(node, negation);
}

function compile(node: QNode, negation: Negation): EntityFilter {
  switch (node.kind) {
    case 'and': {
      const filters = node.operands.map((operand) => compile(operand, negation));
      return (entity) => filters.every((filter) => filter(entity));
    }
    case 'or': {
      const filters = node.operands.map((operand) => compile(operand, negation));
      return (entity) => filters.some((filter) => filter(entity));
    }
    case 'group':
      return compile(node.inner, negation);
    case 'exists': {
      const find = targetFinder(node.path);
      return (entity) => find(entity).length > 0 !== node.negated;
    }
    case 'equality': {
      const find = targetFinder(node.path);
      const isEqual = operandTest(node.operand);
      const negated = node.operator === '!=';
      const holds = quantified(
        (target: Target) => items(target).some(isEqual) !== negated,
        negated,
        negation,
      );
      return (entity) => holds(find(entity));
    }
    case 'order': {
      const find = targetFinder(node.path);
      const test = orderTest(node.operator, node.value);
      return (entity) => find(entity).some((target) => !target.isRelationship && test(target.value));
    }
    case 'pattern':
      return patternFilter(node, negation);
  }
}

function patternFilter(node: Extract<QNode, { kind: 'pattern' }>, negation: Negation): EntityFilter {
  const find = targetFinder(node.path);
  const pattern = readPattern('q', node.pattern);
  const holds = quantified(
    (texts: readonly string[]) => texts.some((text) => pattern.test(text)) !== node.negated,
    node.negated,
    negation,
  );
  return (entity) => holds(find(entity).map(textsOf).filter(isNotEmpty));
}

function textsOf(target: Target): readonly string[] {
  return target.isRelationship ? [] : items(target).filter((item) => typeof item === 'string');
}

function isNotEmpty(list: readonly unknown[]): boolean {
  return list.length > 0;
}

/** Turns a test of one instance into a test of all instances; false if there are none. */
function quantified<T>(test: (item: T) => boolean, negated: boolean, negation: Negation) {
  return negated && negation === 'each instance'
    ? (all: readonly T[]) => all.length > 0 && all.every(test)
    : (all: readonly T[]) => all.some(test);
}

/** Compiles a pattern sent by a client. @throws Refusal BadRequestData */
export function readPattern(parameter: string, pattern: string): Pattern {
  try {
    const compiled = compilePattern(parameter, pattern);
    if (compiled !== undefined) return compiled;
  } catch (error) {
    if (!(error instanceof PatternTooLargeError)) throw error;
    throw refusals.badRequest(error.message);
  }
  throw refusals.badRequest(`${parameter} contains a pattern that is not a valid RE2 expression`);
}

/** Returns the values to compare for equality: the items of an array, else the value itself. */
function items({ value, isRelationship }: Target): readonly JsonValue[] {
  const found = itemsOf(value).map(plain);
  // A ListRelationship holds `{"object": uri}` (clause 4.5.22).
  return isRelationship
    ? found.map((item) => (isObject(item) ? (member(item, 'object') ?? item) : item))
    : found;
}

/** Strips the JSON-LD type from a value, as in `{"@type": "DateTime", "@value": …}`. */
function plain(value: JsonValue): JsonValue {
  return isObject(value) ? (member(value, '@value') ?? value) : value;
}

function operandTest(operand: QOperand): (item: JsonValue) => boolean {
  switch (operand.kind) {
    case 'value':
      return equalityTest(operand.value);
    case 'list': {
      const tests = operand.values.map(equalityTest);
      return (item) => tests.some((test) => test(item));
    }
    case 'range': {
      const from = orderTest('>=', operand.from);
      const to = orderTest('<=', operand.to);
      return (item) => from(item) && to(item);
    }
  }
}

function equalityTest(value: QValue): (item: JsonValue) => boolean {
  const isSame = comparison(value);
  return (item) => isSame(item) === 0;
}

function orderTest(operator: QOrderOperator, value: QValue): (item: JsonValue) => boolean {
  const compare = comparison(value);
  return (given) => {
    const order = compare(plain(given));
    if (order === undefined) return false;
    if (order === 0) return operator === '>=' || operator === '<=';
    return order > 0 === (operator === '>' || operator === '>=');
  };
}

/** Makes a function that compares an item to the value: negative, 0 or positive; undefined if their types differ. */
function comparison(value: QValue): (item: JsonValue) => number | undefined {
  switch (value.kind) {
    case 'number':
    case 'boolean':
      return (item) => (typeof item === typeof value.value ? Number(item) - Number(value.value) : undefined);
    case 'string':
    case 'uri':
    case 'text':
      return (item) => {
        if (typeof item !== 'string') return undefined;
        return item === value.value ? 0 : item < value.value ? -1 : 1;
      };
    case 'date':
    case 'time':
    case 'dateTime': {
      const isTime = value.kind === 'time';
      const instant = instantOf(value.value) ?? Number.NaN;
      return (item) => {
        if (typeof item !== 'string' || (temporalKindOf(item) === 'time') !== isTime) return undefined;
        const given = instantOf(item);
        return given === undefined ? undefined : given - instant;
      };
    }
  }
}

/** A value addressed by a path. Relationships can only be compared for equality (clause 4.9). */
interface Target {
  readonly value: JsonValue;
  readonly isRelationship: boolean;
}

/** Makes the function that finds all values that a path addresses in an entity, one for each instance along the path. */
function targetFinder(path: QPath): (entity: StoredEntity) => readonly Target[] {
  const [first = '', ...rest] = path.names.map(canonicalName);
  if (first === 'createdAt' || first === 'modifiedAt') {
    // The entity's own system attributes have neither sub-attributes nor members.
    if (rest.length > 0 || path.valuePath.length > 0) return () => [];
    return (entity) => [{ value: new Date(entity[first]).toISOString(), isRelationship: false }];
  }
  return (entity) => {
    const attribute = entity.attributes.find(({ name }) => name === first);
    if (attribute === undefined) return [];
    return attribute.instances.flatMap((instance) => instanceTargets(instance, rest, path.valuePath));
  };
}

function instanceTargets(
  instance: Instance,
  rest: readonly string[],
  members: readonly string[],
): readonly Target[] {
  const [name] = rest;
  if (rest.length === 1 && (name === 'createdAt' || name === 'modifiedAt')) {
    return members.length > 0
      ? []
      : [{ value: new Date(instance[name]).toISOString(), isRelationship: false }];
  }
  let found: readonly JsonValue[] = [instance.body];
  for (const step of rest) found = found.flatMap((value) => subAttributes(value, step));
  return found.flatMap((value) => valueTargets(value, members));
}

function subAttributes(value: JsonValue, name: string): readonly JsonValue[] {
  if (!isObject(value) || name === 'type' || name === MAIN_MEMBER.get(member(value, 'type'))) return [];
  const sub = member(value, name);
  if (sub === undefined) return [];
  return itemsOf(sub);
}

function valueTargets(body: JsonValue, members: readonly string[]): readonly Target[] {
  // A plain member such as observedAt or unitCode has no value member: it is the value.
  if (!isObject(body)) return members.length > 0 ? [] : [{ value: body, isRelationship: false }];
  const kind = member(body, 'type');
  const value = member(body, MAIN_MEMBER.get(kind) ?? 'value');
  if (value === undefined) return [];
  const isRelationship = kind === 'Relationship' || kind === 'ListRelationship';
  const values = kind === 'LanguageProperty' ? languageValues(value, members) : memberValues(value, members);
  return values.map((item) => ({ value: item, isRelationship }));
}

/** Returns the text in one language; without a language, or with `*`, the texts in all languages. */
function languageValues(languageMap: JsonValue, members: readonly string[]): readonly JsonValue[] {
  if (!isObject(languageMap) || members.length > 1) return [];
  const [language = '*'] = members;
  return language === '*' ? Object.values(languageMap) : memberValues(languageMap, members);
}

function memberValues(value: JsonValue, names: readonly string[]): readonly JsonValue[] {
  let found: JsonValue = value;
  for (const name of names) {
    const next: JsonValue | undefined =
      typeof found === 'object' && found !== null ? member(found as JsonObject, name) : undefined;
    if (next === undefined) return [];
    found = next;
  }
  return [found];
}
