import { LRUCache } from 'lru-cache';
import type { Form } from '../../ngsi-ld/representation/read-entity.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import { readJson } from '../../shared/json/strict-json.js';
import { validateInLikelyForm } from './choose-form.js';
import { prepareModel, type Model } from './model.js';
import { Reports } from './reports.js';
import { Spelling } from './spelling.js';
import type { EntityOptions } from './validate-entity.js';
import type { TaskAnswer, TaskRefusal } from '../../shared/task-answer.js';

/** Entities of one body. */
export const MAX_ENTITIES = 10_000;

/** Characters of an answer: pointers repeat the names of members, which may be as long as a body. */
const MAX_ANSWER = 16 * 1024 * 1024;

/** Faults that a refusal lists. */
const MAX_LISTED = 100;

export interface ValidateInput {
  /** Names the model's version by its content: the same key always means the same schema. */
  readonly key: string;
  /** The model's name. */
  readonly type: string;
  /** The entities' representation; detected from each entity when left out. */
  readonly form?: Form;
  /** See `EntityOptions`. */
  readonly isStrict?: boolean;
  /** The body: an entity, or an array of entities. */
  readonly text: string;
}

/** Why a body is refused. */
export type ValidationRefusal = TaskRefusal<'BODY_INVALID' | 'LIMIT_EXCEEDED'>;

/** What `prepareModel` is run with. */
export type PrepareInput = Pick<ValidateInput, 'key' | 'type'> & { readonly schema: string };

export type ValidateOutcome = TaskAnswer<ValidationRefusal['code']> | { readonly needs: 'model' };

interface Prepared {
  readonly model: Model;
  /** Characters of its schema's text. */
  readonly characters: number;
}

/** Of the schemas of all compiled models together: what is made of them takes some forty times the memory. */
const MAX_MODELS_CHARACTERS = 4 * 1024 * 1024;

/** The least that one counts for, so that there are at most 64 models. */
const MIN_MODEL_CHARACTERS = MAX_MODELS_CHARACTERS / 64;

/** Compiled models of this worker. No schema is larger than a quarter of what is kept. */
const models = new LRUCache<string, Prepared>({
  maxSize: MAX_MODELS_CHARACTERS,
  sizeCalculation: ({ characters }) => Math.max(characters, MIN_MODEL_CHARACTERS),
});

/** Tasks that validate entities; they run in a worker, because models have patterns. */
export const validationTasks = {
  /**
   * Validates an entity, or each of an array of entities, against a model. The answer is JSON: `{valid, form, errors: [{pointer,
   * detail, keyword, line, column}], warnings: [{pointer, detail, code, line, column}]}`, or an array of these. Pointers lead
   * through the body as it was submitted. A worker that has not met the model yet needs it.
   */
  validate({ key, type, text, ...options }: ValidateInput): ValidateOutcome {
    const prepared = models.get(nameOf(key, type));
    if (prepared === undefined) return { needs: 'model' };
    const read = readJson(text);
    if ('unreadable' in read) return read;
    return validated(read.value as JsonValue, text, prepared.model, options);
  },

  /**
   * Compiles a model, to be kept for entities. It depends on no entity, and takes longer than one.
   *
   * @throws {SchemaRefusedError | RangeError} for a schema that cannot be used, which no stored one should be
   */
  prepareModel({ key, type, schema }: PrepareInput): { readonly isPrepared: true } {
    const name = nameOf(key, type);
    if (models.get(name) === undefined) {
      const model = prepareModel(type, JSON.parse(schema) as JsonObject);
      models.set(name, { model, characters: schema.length });
    }
    return { isPrepared: true };
  },
};

export type ValidationTasks = typeof validationTasks;

function nameOf(key: string, type: string): string {
  return `${key} ${type}`;
}

function validated(body: JsonValue, text: string, model: Model, options: EntityOptions): ValidateOutcome {
  const reports = new Reports();
  const spelling = new Spelling();
  if (isObject(body)) {
    reports.add(body, validateInLikelyForm(body, model, options, spelling), []);
    return bounded(reports.write(text).join());
  }
  const refused = refusalOf(body);
  if (refused !== undefined || !isArray(body)) return { refused: refused ?? invalid([[]]) };
  for (const [index, entity] of body.entries())
    if (isObject(entity))
      reports.add(entity, validateInLikelyForm(entity, model, options, spelling), [String(index)]);
  return bounded(`[${reports.write(text).join()}]`);
}

function bounded(answer: string): ValidateOutcome {
  if (answer.length <= MAX_ANSWER) return { answer };
  const detail = `The report has more than ${MAX_ANSWER} characters: send fewer entities at a time.`;
  return { refused: { code: 'LIMIT_EXCEEDED', detail, errors: [] } };
}

function refusalOf(body: JsonValue): ValidationRefusal | undefined {
  if (!isArray(body)) return invalid([[]]);
  if (body.length > MAX_ENTITIES) {
    const detail = `holds ${body.length} entities, more than ${MAX_ENTITIES}`;
    return { code: 'LIMIT_EXCEEDED', detail: `The body ${detail}.`, errors: [{ pointer: '', detail }] };
  }
  const others = body.flatMap((item, index) => (isObject(item) ? [] : [[String(index)]]));
  return others.length === 0 ? undefined : invalid(others);
}

/** @param places of what should be an entity */
function invalid(places: readonly (readonly string[])[]): ValidationRefusal {
  return {
    code: 'BODY_INVALID',
    detail: 'The body is neither an entity nor an array of entities.',
    errors: places.slice(0, MAX_LISTED).map((tokens) => ({
      pointer: pointerOf(tokens),
      detail:
        tokens.length === 0 ? 'must be an entity, or an array of entities' : 'must be an entity, an object',
    })),
  };
}
