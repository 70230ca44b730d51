import { typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { OmittedInstances, Reading } from '../../ngsi-ld/representation/read-entity.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  jsonEquals,
  omitMembers,
} from '../../shared/json/json.js';
import { explain, type Fault } from '../json-schema/explain.js';
import type { Model } from './model.js';
import type { Spelling } from '../json-schema/spelling.js';

/** Limits on checking further instances; at least one is always checked. */
const INSTANCE_LIMITS = {
  /** Number of faults after which the search stops: more than are shown. */
  issues: 100,
  /** Maximum number of values in all validated readings together. */
  validated: 20_000_000,
  /** Maximum number of values in all explained readings together. */
  explained: 500_000,
} as const;

/** An issue that an entity has with a further instance of an attribute. */
export interface InstanceIssue {
  readonly issue: Fault;
  readonly reading: Reading;
  /** Whether to report the issue at the instance as a whole. */
  readonly isAtInstance: boolean;
}

/**
 * Finds the issues of an entity with a further instance of an attribute, in addition to those that it has anyway.
 *
 * If the entity has no other issues, every issue found is due to the instance. Otherwise only those within the
 * attribute are certain to be.
 */
export function instanceIssues(
  readings: readonly Reading[],
  view: SchemaView,
  model: Model,
  spelling: Spelling,
): { readonly issues: readonly InstanceIssue[]; readonly omitted: readonly OmittedInstances[] } {
  const [some] = readings;
  const found: InstanceIssue[] = [];
  if (some === undefined) return { issues: found, omitted: [] };
  const isWrongAnyway = view.issues.length > 0;
  const { issues, validated, explained } = INSTANCE_LIMITS;
  const shown = isWrongAnyway ? withoutOtherAttributes(view) : view.of;
  const count = countValues(shown(some), validated);
  const most = Math.max(1, Math.floor(validated / count));
  let explicable = Math.max(1, Math.floor(explained / count));
  const elsewhere = new Set<string>();
  for (const [index, reading] of readings.entries()) {
    if (found.length > issues) break;
    if (index >= most) return { issues: found, omitted: [omittedFrom(readings, index)] };
    if (isWrongAnyway && explicable === 0) break;
    const keyValues = shown(reading);
    const error = model.firstFault(keyValues);
    if (error === undefined) continue;
    const all = explicable > 0 ? explainSafely(model, keyValues, error, spelling) : [error];
    explicable = Math.max(0, explicable - 1);
    found.push(...(isWrongAnyway ? withinOnly(all, reading) : causedBy(all, reading, elsewhere)));
  }
  return { issues: found, omitted: [] };
}

/** Leaves out other attributes with issues: those are already reported, and would be found again for each instance. */
function withoutOtherAttributes(view: SchemaView): (reading: Reading) => JsonObject {
  const blamed = new Set(view.issues.flatMap(({ tokens }) => tokens.slice(0, 1)));
  return (reading) =>
    objectOf(
      Object.entries(view.of(reading)).filter(
        ([name]) => name === reading.attribute || name === 'type' || !blamed.has(name),
      ),
    );
}

function withinOnly(all: readonly Fault[], reading: Reading): readonly InstanceIssue[] {
  return all
    .filter(({ tokens, ofMember }) => tokens[0] === reading.attribute && !(ofMember && tokens.length === 1))
    .map((issue) => ({ issue, reading, isAtInstance: false }));
}

/**
 * @param elsewhere other attributes in which earlier instances have caused issues, which are not repeated; extended
 * here
 */
function causedBy(all: readonly Fault[], reading: Reading, elsewhere: Set<string>): readonly InstanceIssue[] {
  const others = new Set<string>();
  const found = all.flatMap((issue): readonly InstanceIssue[] => {
    const [name, ...below] = issue.tokens;
    if (name === undefined) return [{ issue: ofEntity(issue), reading, isAtInstance: true }];
    if (name === reading.attribute)
      return [{ issue, reading, isAtInstance: issue.ofMember === true && below.length === 0 }];
    others.add(name);
    return elsewhere.has(name) ? [] : [{ issue, reading, isAtInstance: false }];
  });
  for (const name of others) elsewhere.add(name);
  return found;
}

function ofEntity(issue: Fault): Fault {
  return { ...issue, predicate: () => `makes the entity invalid, which ${issue.predicate()}` };
}

function omittedFrom(readings: readonly Reading[], index: number): OmittedInstances {
  const { attribute = '' } = readings[index] ?? {};
  const before = readings.slice(0, index).filter((one) => one.attribute === attribute);
  return { attribute, read: before.length + 1 };
}

/** How the readings of an entity are shown to the schema, and the issues of the first reading. */
export interface SchemaView {
  readonly of: (reading: Reading) => JsonObject;
  /** The schema's issues with the first reading. */
  readonly issues: readonly Fault[];
  /** Whether the type is shown as submitted. */
  readonly hasOwnType: boolean;
}

/**
 * Shows the schema the model's name as the type. If the schema refuses that but accepts the submitted type, such as
 * an IRI or a list of types, it is shown the submitted one.
 */
export function viewOf(entity: JsonObject, first: Reading, model: Model, spelling: Spelling): SchemaView {
  const plain = (reading: Reading) => shownTo(model, entity, reading);
  const shown = plain(first);
  const error = model.firstFault(shown);
  if (error === undefined) return { of: plain, issues: [], hasOwnType: false };
  const issues = explainSafely(model, shown, error, spelling);
  const type = member(entity, typeMemberOf(entity));
  if (type === undefined || jsonEquals(type, member(shown, 'type')))
    return { of: plain, issues, hasOwnType: false };
  const submitted = (reading: Reading) => withMember(plain(reading), 'type', type);
  const withOwn = submitted(first);
  const other = model.firstFault(withOwn);
  if (other === undefined) return { of: submitted, issues: [], hasOwnType: true };
  const refused = ofType(issues);
  const otherIssues = refused === 0 ? issues : explainSafely(model, withOwn, other, spelling);
  return ofType(otherIssues) < refused
    ? { of: submitted, issues: otherIssues, hasOwnType: true }
    : { of: plain, issues, hasOwnType: false };
}

/** Whether the schema accepts a reading, either with the model's name as the type or with the submitted type. */
export function isAccepted(entity: JsonObject, reading: Pick<Reading, 'keyValues'>, model: Model): boolean {
  const shown = shownTo(model, entity, reading);
  if (model.firstFault(shown) === undefined) return true;
  const type = member(entity, typeMemberOf(entity));
  return (
    type !== undefined &&
    !jsonEquals(type, member(shown, 'type')) &&
    model.firstFault(withMember(shown, 'type', type)) === undefined
  );
}

/** What the schema is shown: without members that it does not describe, and with an `@context` if it asks for that. */
function shownTo(model: Model, entity: JsonObject, { keyValues }: Pick<Reading, 'keyValues'>): JsonObject {
  const shown = withSetForms(omitMembers(keyValues, model.undescribedMembers), model);
  const context = model.seesContext ? (member(entity, '@context') ?? model.assumedContext) : undefined;
  return context === undefined ? shown : objectOf([...Object.entries(shown), ['@context', context]]);
}

/** The entity with its type and scope as an array or as the only item, whichever the model describes. */
function withSetForms(shown: JsonObject, { setForms }: Model): JsonObject {
  let result = shown;
  for (const [name, form] of setForms) {
    const value = member(shown, name);
    if (form === 'array' && typeof value === 'string') result = withMember(result, name, [value]);
    if (form === 'item' && isArray(value) && value.length === 1)
      result = withMember(result, name, value[0] ?? value);
  }
  return result;
}

function ofType(issues: readonly Fault[]): number {
  return issues.filter(({ tokens }) => tokens[0] === 'type').length;
}

/** The object with another value for one of its members. */
function withMember(object: JsonObject, name: string, value: JsonValue): JsonObject {
  return objectOf(Object.entries(object).map((entry) => (entry[0] === name ? [name, value] : entry)));
}

/** Counts the values in a value, itself included, up to `most`. */
function countValues(value: JsonValue, most: number): number {
  const open: JsonValue[] = [value];
  let count = 0;
  for (let next = open.pop(); next !== undefined && count < most; next = open.pop()) {
    count += 1;
    if (isArray(next) || isObject(next)) for (const inner of Object.values<JsonValue>(next)) open.push(inner);
  }
  return count;
}

/** Explains what the validator found first. If there is no explanation, the validator's own words are used. */
function explainSafely(
  { flat }: Model,
  keyValues: JsonObject,
  first: Fault,
  spelling: Spelling,
): readonly Fault[] {
  try {
    const explained = explain(flat, keyValues, spelling);
    if (explained.length > 0) return explained;
  } catch (error) {
    // An explanation needs more stack and memory than the compiled validator.
    if (!(error instanceof RangeError)) throw error;
  }
  return [first];
}
