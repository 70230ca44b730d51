import { objectOf, type JsonObject } from '../json-schema/json.js';
import { tokensOf } from '../json-schema/pointer.js';
import { readEntity, type EntityReading, type Form, type Reading } from '../representation/read-entity.js';
import { consequencesOf } from './consequences.js';
import { explain, type Explained } from './explain.js';
import type { Model } from './model.js';
import { modelWarnings } from './model-warnings.js';

/** Something that is wrong with an entity. */
export interface EntityError {
  /** Reference tokens (RFC 6901) of a place in the entity as submitted. */
  readonly tokens: readonly string[];
  /** The JSON Schema keyword that asks, or could ask, for what is not so. */
  readonly keyword: string;
  /** Predicate of a sentence about that place; made when it is asked for. */
  readonly say: () => string;
}

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

/** Errors by the schema that are kept of one entity: far more than are shown. */
const ERRORS_MAX = 2000;

const NONE: readonly EntityError[] = [];

/**
 * Holds an entity against a model: its structure as NGSI-LD asks for it, then its key-values form against the schema, once
 * more for each further instance of an attribute.
 *
 * Of an attribute whose structure is wrong nothing is said that follows from that.
 */
export function judgeEntity(
  entity: JsonObject,
  model: Model,
  { form, isStrict = true }: JudgeOptions = {},
): Judgement {
  const { name, unwraps } = model;
  const reading = readEntity(entity, { ...(form === undefined ? {} : { form }), model: name, unwraps });
  // What is no error has no consequences that would say the same again.
  const bySchema = schemaErrors(entity, isStrict ? reading : { ...reading, faults: [] }, model);
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
  return { errors, warnings: [...warnings, ...modelWarnings(reading, model, errors)] };
}

function schemaErrors(
  entity: JsonObject,
  { readings, faults }: EntityReading,
  model: Model,
): readonly EntityError[] {
  const isConsequence = consequencesOf(faults, entity);
  const found: EntityError[] = [];
  for (const reading of readings) {
    for (const explained of faultsIn(reading, model)) {
      const { tokens, missing, keyword, say } = explained;
      if (reading.attribute !== undefined && tokens[0] !== reading.attribute) continue;
      const located = placeOf(explained, reading);
      if (isConsequence(located, missing)) continue;
      if (found.length === ERRORS_MAX) return found;
      found.push({ tokens: located, keyword, say });
    }
  }
  return found.length === 0 ? NONE : found;
}

/** A member of the key-values form stands where its name does; its value may stand further within. */
function placeOf({ tokens, ofMember }: Explained, reading: Reading): readonly string[] {
  const name = tokens.at(-1);
  if (ofMember === undefined || name === undefined) return reading.locate(tokens);
  return [...reading.locate(tokens.slice(0, -1)), name];
}

/** The validator alone says whether there is a fault; where no better words are found, they are its own. */
function faultsIn(reading: Reading, { flat, firstError, unsaid }: Model): readonly Explained[] {
  const keyValues = withoutAny(reading.keyValues, unsaid);
  const first = firstError(keyValues);
  if (first === undefined) return [];
  const explained = explainSafely(flat, keyValues);
  if (explained.length > 0) return explained;
  const { instancePath, keyword, message = 'is not valid' } = first;
  return [{ tokens: tokensOf(instancePath) ?? [], keyword, say: () => message }];
}

/** The object itself where it has none of the members, as is usual. */
function withoutAny(object: JsonObject, members: ReadonlySet<string>): JsonObject {
  for (const name of members)
    if (Object.hasOwn(object, name))
      return objectOf(Object.entries(object).filter(([other]) => !members.has(other)));
  return object;
}

function explainSafely(flat: Model['flat'], keyValues: JsonObject): readonly Explained[] {
  try {
    return explain(flat, keyValues);
  } catch (error) {
    // Going through schema and document takes more of the stack than the compiled validator does.
    if (error instanceof RangeError) return [];
    throw error;
  }
}
