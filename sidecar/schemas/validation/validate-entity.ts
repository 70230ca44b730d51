import { KIND_BY_MEMBER, NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { isOfModel, typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { Finding } from '../../ngsi-ld/representation/findings.js';
import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import {
  type EntityReading,
  type Form,
  readEntity,
  type Reading,
} from '../../ngsi-ld/representation/read-entity.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  childAt,
} from '../../shared/json/json.js';
import type { Fault } from '../json-schema/explain.js';
import { instanceIssues, isAccepted, viewOf } from './instance-errors.js';
import type { Model } from './model.js';
import { Spelling } from '../json-schema/spelling.js';
import { type Correction, shortValue } from '../json-schema/message-parts.js';

/** Something that is valid but probably not intended. */
export interface EntityNotice {
  readonly tokens: readonly string[];
  readonly code: string;
  readonly predicate: () => string;
  readonly correction?: (() => Correction | undefined) | undefined;
}

/** Errors and warnings of one entity, in no particular order; it is valid if there are no errors. */
export interface EntityVerdict<Read extends SubmittedForm = SubmittedForm> {
  /** The form in which it was read. */
  readonly form: Read;
  readonly errors: readonly EntityError[];
  readonly warnings: readonly EntityNotice[];
}

/** How an entity is read, and whether NGSI-LD itself is enforced. */
export interface EntityOptions<Read extends SubmittedForm = SubmittedForm> {
  /** The form of the entity; detected if left out. */
  readonly form?: Read | undefined;
  /**
   * Whether a violation of NGSI-LD, or of NGSIv2, that the schema allows is an error; otherwise it is a warning. True
   * by default.
   */
  readonly isStrict?: boolean | undefined;
}

/**
 * Validates an entity against a model: its structure by the rules of NGSI-LD, then its key-values form by the schema,
 * and again with each further instance of an attribute.
 *
 * Errors that are mere consequences of a wrong structure are left out.
 *
 * @param spelling shared by the entities of one answer, and so is its limit on comparisons
 */
export function validateEntity(
  entity: JsonObject,
  model: Model,
  options: EntityOptions<Form> = {},
  spelling = new Spelling(),
): EntityVerdict<Form> {
  const { form, isStrict = true } = options;
  const { unwraps } = model;
  const type = typeOf(entity, model);
  const reading = readEntity(entity, { form, model: type, unwraps });
  // Structural warnings must not hide schema errors.
  const bySchema = schemaErrors(entity, isStrict ? reading : { ...reading, faults: [] }, model, spelling);
  const structure = reading.faults.map((fault) => ({ ...structureFinding(fault), keyword: fault.keyword }));
  const errors = structure.length === 0 || !isStrict ? bySchema : [...structure, ...bySchema];
  const warnings = [
    ...(isStrict ? [] : reading.faults.map((fault) => ({ ...structureFinding(fault), code: 'ngsi-ld' }))),
    ...reading.warnings.map((warning) => ({ ...structureFinding(warning), code: warning.code })),
    ...(model.assumedContext === undefined || Object.hasOwn(entity, '@context') ? [] : [NO_CONTEXT]),
  ];
  const { form: used } = reading;
  return { form: used, errors, warnings: [...warnings, ...modelWarnings(reading, model, errors, spelling)] };
}

const NO_CONTEXT: EntityNotice = {
  tokens: [],
  code: 'no-context',
  predicate: () =>
    'has no @context, which the model requires; it is valid if the header Link names one where it is sent',
};

/** A finding about the structure, in the form of an error or warning. */
function structureFinding({
  tokens,
  detail,
  meantName: name,
}: Omit<Finding, 'keyword'>): Omit<EntityError, 'keyword'> {
  return { tokens, predicate: () => detail, ...(name === undefined ? {} : { correction: () => ({ name }) }) };
}

/**
 * Whether {@link validateEntity} finds no error in a form; also false if there are too many readings to check.
 *
 * @param form undefined to detect it
 */
export function isValidIn(
  form: Form | undefined,
  entity: JsonObject,
  model: Model,
  { isStrict = true }: Pick<EntityOptions, 'isStrict'>,
): boolean {
  const { faults, readings, omitted } = readEntity(entity, {
    form,
    model: typeOf(entity, model),
    unwraps: model.unwraps,
  });
  if ((isStrict && faults.length > 0) || omitted.length > 0 || readings.length > MAX_TRIED) return false;
  return readings.every((reading) => isAccepted(entity, reading, model));
}

/** Maximum number of readings that {@link isValidIn} checks. */
const MAX_TRIED = 20;

/** The one of the model's types that the entity has; the first one if it has none of them. */
export function typeOf(entity: JsonObject, { name, types }: Model): string {
  const type = member(entity, typeMemberOf(entity));
  return types.find((one) => isOfModel(type, one)) ?? types[0] ?? name;
}

/**
 * An error of an entity, at a place in the submitted entity. Its keyword is the one that is violated, or that would express the
 * violated rule.
 */
export type EntityError = Omit<Fault, 'ofMember'>;

/** Maximum number of schema errors kept of one entity: far more than are shown. */
const MAX_ERRORS = 2000;

const NONE: readonly EntityError[] = [];

/**
 * The errors of an entity by the schema: with its default instances, and with each further instance of an attribute.
 * Mere consequences of structural faults are left out.
 */
function schemaErrors(
  entity: JsonObject,
  reading: Pick<EntityReading, 'readings' | 'faults' | 'omitted'>,
  model: Model,
  spelling: Spelling,
): readonly EntityError[] {
  const [first, ...further] = reading.readings;
  const view = viewOf(entity, first, model, spelling);
  if (view.issues.length === 0 && further.length === 0 && reading.omitted.length === 0) return NONE;
  const isConsequence = consequencesOf(reading.faults, entity);
  const found: EntityError[] = [];
  const add = ({ missing, keyword, predicate, correction }: Fault, tokens: readonly string[]): void => {
    if (found.length < MAX_ERRORS && !isConsequence(tokens, missing))
      found.push({ tokens: placeWithin(entity, tokens), keyword, predicate, missing, correction });
  };
  const typeMember = view.hasOwnType ? typeMemberOf(entity) : undefined;
  for (const one of view.issues) {
    const [name, ...below] = one.tokens;
    const isType = typeMember !== undefined && name === 'type';
    add(one, isType ? [typeMember, ...below] : placeOf(one, first));
  }
  const { issues, omitted } = instanceIssues(further, view, model, spelling);
  for (const { issue, reading: own, isAtInstance } of issues)
    add(issue, isAtInstance ? (own.instance ?? []) : placeOf(issue, own));
  const notRead = [...omitted, ...reading.omitted].slice(0, MAX_ERRORS);
  return [
    ...found,
    ...notRead.map(({ attribute, read }) => ({
      tokens: [attribute],
      keyword: 'maxItems',
      predicate: () => `has more than ${read} instances, and the others are not checked: split the entity`,
    })),
  ];
}

/** The place of an error. An error about a member itself is placed at the name, because the value may be further inside. */
function placeOf({ tokens, ofMember }: Fault, reading: Reading): readonly string[] {
  const name = tokens.at(-1);
  if (ofMember === undefined || name === undefined) return reading.locate(tokens);
  return [...reading.locate(tokens.slice(0, -1)), name];
}

/** The place, or that of the string around it, which the schema was shown as an array. */
function placeWithin(entity: JsonObject, tokens: readonly string[]): readonly string[] {
  let value: JsonValue | undefined = entity;
  const inString = tokens.findIndex((token) => {
    if (typeof value === 'string') return true;
    value = value === undefined ? undefined : childAt(value, token);
    return false;
  });
  return inString === -1 ? tokens : tokens.slice(0, inString);
}

/** Members of an attribute from which its key-values form is made. */
const CONVERTED: ReadonlySet<string> = new Set(['type', ...KIND_BY_MEMBER.keys()]);

/** Members of an entity that NGSI-LD requires. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(['id', 'type']);

/**
 * Returns a test for schema errors that are mere consequences of a structural fault: errors in the same instance of
 * an attribute, if that has the wrong form or value; and missing members that could not be read, or that the standard
 * requires as well.
 */
function consequencesOf(
  faults: readonly Finding[],
  entity: JsonObject,
): (tokens: readonly string[], missing: string | undefined) => boolean {
  if (faults.length === 0) return () => false;
  // Two instances with the same datasetId can still be read.
  const reaching = faults.filter(({ keyword }) => keyword !== 'uniqueItems');
  const wrong = new Set<string>();
  // Names and indexes are kept separately rather than joined to one text, because names may be long.
  const wrongInstances = new Map<string, Set<string>>();
  for (const { tokens } of reaching) {
    const [name, index] = reachOf(tokens, entity);
    if (name === undefined) continue;
    if (index === undefined) wrong.add(name);
    else wrongInstances.set(name, (wrongInstances.get(name) ?? new Set()).add(index));
  }
  const isEntityWrong = faults.some(({ tokens }) => tokens.length === 0);
  return ([name, ...below], missing) => {
    if (missing !== undefined && isEntityWrong && ALWAYS_THERE.has(missing)) return true;
    if (name === undefined) return missing !== undefined && wrong.has(missing);
    if (wrong.has(name)) return true;
    const [index] = below;
    return index !== undefined && wrongInstances.get(name)?.has(index) === true;
  };
}

/** The attribute, or its name and the index of its instance, that a fault makes unreadable. */
function reachOf([name, ...below]: readonly string[], entity: JsonObject): readonly string[] {
  if (name === undefined) return [];
  const hasInstances = isArray(member(entity, name));
  const [index] = below;
  const own = hasInstances && index !== undefined ? [name, index] : [name];
  const [inner] = hasInstances ? below.slice(1) : below;
  const value = hasInstances ? childAt(member(entity, name), index ?? '') : member(entity, name);
  return inner === undefined || CONVERTED.has(inner) || isBareValue(value) ? own : [];
}

/** Whether a value has no members of an attribute around it, such as a geometry in the concise representation. */
function isBareValue(value: JsonValue | undefined): boolean {
  return !isObject(value) || ![...KIND_BY_MEMBER.keys()].some((name) => Object.hasOwn(value, name));
}

/** Maximum number of warnings kept of one entity: far more than are shown. */
const MAX_WARNINGS = 1000;

/**
 * Warns about attributes that the model allows but does not know, and about those of another kind than it states.
 * There is no warning if an error is already about the attribute itself.
 */
function modelWarnings(
  { readings, kinds }: EntityReading,
  model: Model,
  errors: readonly { readonly tokens: readonly string[] }[],
  spelling: Spelling,
): readonly EntityNotice[] {
  const { attributes, describesByPattern } = model;
  // If a model names no attributes at all, none is unknown.
  if (attributes.size === 0) return [];
  const found: EntityNotice[] = [];
  const names = [...attributes.keys()];
  const blamed = new Set(errors.flatMap(({ tokens }) => (tokens.length === 1 ? tokens : [])));
  for (const name of Object.keys(readings[0].keyValues)) {
    if (found.length === MAX_WARNINGS) break;
    if (NON_ATTRIBUTE_MEMBERS.has(name) || blamed.has(name)) continue;
    if (!attributes.has(name)) {
      if (!describesByPattern(name))
        found.push({
          tokens: [name],
          code: 'unknown-attribute',
          predicate: () => unknown(name, model, names, spelling),
          correction: () => {
            const meant = spelling.nearest(name, names);
            return meant === undefined ? undefined : { name: meant };
          },
        });
      continue;
    }
    const [expected, sent] = [attributes.get(name), kinds.get(name)];
    if (expected !== undefined && sent !== undefined && expected !== sent)
      found.push({
        tokens: [name],
        code: 'other-kind',
        predicate: () => `is a ${sent}, where the model has a ${expected}`,
      });
  }
  return found;
}

function unknown(name: string, { name: type }: Model, names: readonly string[], spelling: Spelling): string {
  const meant = spelling.nearest(name, names);
  const hint = meant === undefined ? '' : `; did you mean ${shortValue(meant)}?`;
  return `is not an attribute of the model ${type}${hint}`;
}
