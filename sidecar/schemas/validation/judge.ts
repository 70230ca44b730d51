import type { JsonObject } from '../../shared/json/json.js';
import { readEntity, type Form } from '../../ngsi-ld/representation/read-entity.js';
import type { EntityError } from './entity-error.js';
import type { Model } from './model.js';
import { modelWarnings } from './model-warnings.js';
import { schemaErrors } from './schema-errors.js';
import { Spelling } from './spelling.js';

/** Something that a broker takes and the model allows, but that is hardly meant. */
export interface EntityNotice {
  readonly tokens: readonly string[];
  readonly code: string;
  readonly say: () => string;
}

/** What was found out about one entity, in no particular order; it is valid when there are no errors. */
export interface Judgement {
  readonly errors: readonly EntityError[];
  readonly warnings: readonly EntityNotice[];
}

export interface JudgeOptions {
  /** Of the entity; detected when it is not given. */
  readonly form?: Form;
  /** False: what NGSI-LD forbids and the schema does not is a warning. True when it is not given. */
  readonly isStrict?: boolean;
}

/**
 * Holds an entity against a model: its structure as NGSI-LD asks for it, then its key-values form against the schema, once
 * more for each further instance of an attribute.
 *
 * Of an attribute whose structure is wrong nothing is said that follows from that.
 *
 * @param spelling shared by the entities of one answer, as is what may be spent on looking for misspellings
 */
export function judgeEntity(
  entity: JsonObject,
  model: Model,
  options: JudgeOptions = {},
  spelling = new Spelling(),
): Judgement {
  const { form, isStrict = true } = options;
  const { name, unwraps } = model;
  const reading = readEntity(entity, { ...(form === undefined ? {} : { form }), model: name, unwraps });
  // What is no error has no consequences that would say the same again.
  const bySchema = schemaErrors(entity, isStrict ? reading : { ...reading, faults: [] }, model, spelling);
  const structure = reading.faults.map(({ tokens, keyword, detail }) => ({
    tokens,
    keyword,
    say: () => detail,
  }));
  const errors = structure.length === 0 || !isStrict ? bySchema : [...structure, ...bySchema];
  const warnings = [
    ...(isStrict ? [] : structure.map(({ tokens, say }) => ({ tokens, code: 'ngsi-ld', say }))),
    ...reading.warnings.map(({ tokens, code, detail }) => ({ tokens, code, say: () => detail })),
  ];
  return { errors, warnings: [...warnings, ...modelWarnings(reading, model, errors, spelling)] };
}
