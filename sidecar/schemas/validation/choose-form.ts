import { ambiguousAttributes, type Form, otherForms } from '../../ngsi-ld/representation/form.js';
import type { JsonObject } from '../../shared/json/json.js';
import type { Model } from './model.js';
import type { Spelling } from './spelling.js';
import { type EntityOptions, type EntityVerdict, isValidIn, validateEntity } from './validate-entity.js';

/** Forms as people call them. */
const WORDS: Readonly<Record<Form, string>> = {
  normalized: 'normalized',
  concise: 'concise',
  keyvalues: 'key-values',
};

/**
 * Validates an entity in the form that is claimed; else in the one that it is most likely in.
 *
 * Where that finds errors and another form does not, a warning (`other-form`) says so. The other form is taken when the
 * entity may as well be meant in it, and the model describes all attributes that leave it open: the model then decides what
 * the entity does not show.
 */
export function validateInLikelyForm(
  entity: JsonObject,
  model: Model,
  options: EntityOptions,
  spelling: Spelling,
): EntityVerdict {
  const guessed = validateEntity(entity, model, options, spelling);
  if (options.form !== undefined || guessed.errors.length === 0) return guessed;
  const entries = Object.entries(entity);
  const form = otherForms(entries, guessed.form).find((one) => isValidIn(one, entity, model, options));
  if (form === undefined) return guessed;
  const open = ambiguousAttributes(entries);
  const isDecided = open.length > 0 && open.every((name) => model.attributes.has(name));
  const [verdict, say] = isDecided
    ? [validateEntity(entity, model, { ...options, form }, spelling), () => chosen(form, guessed.form)]
    : [guessed, () => rejected(form, guessed.form)];
  return { ...verdict, warnings: [...verdict.warnings, { tokens: [], code: 'other-form', say }] };
}

function chosen(form: Form, other: Form): string {
  return (
    `is read as ${WORDS[form]}: it may be ${WORDS[other]} as well, but is not valid so; ` +
    `send form=${form} or form=${other} to decide`
  );
}

function rejected(form: Form, guess: Form): string {
  return `is read as ${WORDS[guess]}; as ${WORDS[form]} it is valid: send form=${form} if that is meant`;
}
