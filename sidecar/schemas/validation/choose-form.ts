import { ambiguousAttributes, type Form, otherForms } from '../../ngsi-ld/representation/form.js';
import { isFeature, entityFromFeature } from '../../ngsi-ld/representation/geojson.js';
import { plainKeyValues } from '../../ngsi-ld/representation/plain-entity.js';
import type { JsonObject } from '../../shared/json/json.js';
import { isAccepted } from './instance-errors.js';
import type { Model } from './model.js';
import type { Spelling } from '../json-schema/spelling.js';
import {
  type EntityOptions,
  type EntityVerdict,
  isValidIn,
  typeOf,
  validateEntity,
} from './validate-entity.js';

/** The names of the forms in sentences. */
const WORDS: Readonly<Record<Form, string>> = {
  normalized: 'normalized',
  concise: 'concise',
  keyvalues: 'key-values',
  ngsiv2: 'NGSIv2',
};

/**
 * Validates an entity in the claimed form, or else in the form that it most likely has; a Feature is GeoJSON.
 *
 * If this finds errors but another form has none, a warning (`other-form`) says so. The other form is used instead if
 * the entity may be in either form, and the model describes all attributes that leave this open: the model then
 * decides what the entity does not show.
 */
export function validateInLikelyForm(
  entity: JsonObject,
  model: Model,
  { form, ...options }: EntityOptions,
  spelling: Spelling,
): EntityVerdict {
  if (form === 'geojson' || (form === undefined && !model.types.includes('Feature') && isFeature(entity)))
    return validateFeature(entity, model, options, spelling);
  return validateByGuess(entity, model, { ...options, form }, spelling);
}

/**
 * Whether {@link validateInLikelyForm} is certain to find no error. Much faster, but gives no warnings; false does
 * not mean that there are errors.
 */
export function isPlainlyValid(entity: JsonObject, model: Model): boolean {
  if (isFeature(entity)) return false;
  const keyValues = plainKeyValues(entity, typeOf(entity, model), model.unwraps);
  return keyValues === undefined
    ? isValidIn(undefined, entity, model, {})
    : isAccepted(entity, { keyValues }, model);
}

/** Errors of the Feature itself come before those of the entity in it. */
function validateFeature(
  feature: JsonObject,
  model: Model,
  options: EntityOptions<Form>,
  spelling: Spelling,
): EntityVerdict {
  const { entity, locate, faults, warnings, isReadable } = entityFromFeature(feature);
  const own = faults.map(({ tokens, keyword, detail }) => ({ tokens, keyword, predicate: () => detail }));
  const notices = warnings.map(({ tokens, code, detail }) => ({ tokens, code, predicate: () => detail }));
  if (!isReadable) return { form: 'geojson', errors: own, warnings: notices };
  const inner = validateByGuess(entity, model, options, spelling);
  const placed = <One extends { readonly tokens: readonly string[] }>(one: One): One => ({
    ...one,
    tokens: locate(one.tokens),
  });
  const { isStrict = true } = options;
  // The parameter `form` is about the whole Feature, not about its properties.
  const others = inner.warnings.filter(({ code }) => code !== OTHER_FORM).map(placed);
  const tolerated = isStrict
    ? []
    : own.map(({ tokens, predicate }) => ({ tokens, code: 'ngsi-ld', predicate }));
  return {
    form: 'geojson',
    errors: [...(isStrict ? own : []), ...inner.errors.map(placed)],
    warnings: [...tolerated, ...notices, ...others],
  };
}

const OTHER_FORM = 'other-form';

function validateByGuess(
  entity: JsonObject,
  model: Model,
  options: EntityOptions<Form>,
  spelling: Spelling,
): EntityVerdict<Form> {
  const guessed = validateEntity(entity, model, options, spelling);
  if (options.form !== undefined || guessed.errors.length === 0) return guessed;
  const entries = Object.entries(entity);
  const form = otherForms(entries, guessed.form).find((one) => isValidIn(one, entity, model, options));
  if (form === undefined) return guessed;
  const open = ambiguousAttributes(entries);
  const isDecided = open.length > 0 && open.every((name) => model.attributes.has(name));
  const [verdict, predicate] = isDecided
    ? [validateEntity(entity, model, { ...options, form }, spelling), () => chosen(form, guessed.form)]
    : [guessed, () => rejected(form, guessed.form)];
  return { ...verdict, warnings: [...verdict.warnings, { tokens: [], code: OTHER_FORM, predicate }] };
}

function chosen(form: Form, other: Form): string {
  return (
    `is read as ${WORDS[form]}: it may also be ${WORDS[other]}, but is not valid as such; ` +
    `send form=${form} or form=${other} to decide`
  );
}

function rejected(form: Form, guess: Form): string {
  return `is read as ${WORDS[guess]}; as ${WORDS[form]} it is valid: send form=${form} if that is meant`;
}

/**
 * Validates an entity against several models, and reports the errors by all of them. An attribute is unknown only if
 * no model knows it.
 *
 * @param models at least one
 */
export function verdictByModels(
  models: readonly Model[],
  entity: JsonObject,
  options: EntityOptions,
  spelling: Spelling,
): EntityVerdict {
  const verdicts = models.map((model) => validateInLikelyForm(entity, model, options, spelling));
  const [first, ...others] = verdicts;
  if (first === undefined) throw new Error('An entity was to be validated without a model.');
  if (others.length === 0) return first;
  const warnings = verdicts.flatMap((one, index) =>
    one.warnings.filter(({ code }) => index === 0 || code !== UNKNOWN),
  );
  const isUnknownToAll = ({ tokens }: { readonly tokens: readonly string[] }) =>
    verdicts.every((one) =>
      one.warnings.some((other) => other.code === UNKNOWN && other.tokens.join('/') === tokens.join('/')),
    );
  return {
    form: first.form,
    errors: distinct(verdicts.flatMap((one) => one.errors)),
    warnings: distinct(warnings.filter((one) => one.code !== UNKNOWN || isUnknownToAll(one))),
  };
}

const UNKNOWN = 'unknown-attribute';

interface Issue {
  readonly tokens: readonly string[];
  readonly keyword?: string;
  readonly code?: string;
  readonly predicate: () => string;
}

/** Removes duplicates: the models of one entity report the same violations of NGSI-LD. */
function distinct<One extends Issue>(all: readonly One[]): readonly One[] {
  const keyOf = ({ tokens, keyword, code, predicate }: Issue) =>
    JSON.stringify([tokens, keyword, code, predicate()]);
  return [...new Map(all.map((one) => [keyOf(one), one] as const)).values()];
}
