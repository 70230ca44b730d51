import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import type { JsonValue } from '../../shared/json/json.js';
import { readJson } from '../../shared/json/strict-json.js';
import { validateInLikelyForm } from './choose-form.js';
import { entitiesIn, type ValidationRefusal } from './entities-in.js';
import { compiledModel, compileModel } from './compiled-models.js';
import type { Model } from './model.js';
import { Reports } from './reports.js';
import { Spelling } from './spelling.js';
import type { EntityIssues, EntityOptions } from './validate-entity.js';
import type { TaskAnswer } from '../../shared/task-answer.js';

/** Characters of an answer: pointers repeat the names of members, which may be as long as a body. */
const MAX_ANSWER = 16 * 1024 * 1024;

export interface ValidateInput {
  /** Names the model's version by its content: the same key always means the same schema. */
  readonly key: string;
  /** The model's name. */
  readonly type: string;
  /** The entities' representation; detected from each entity when left out. */
  readonly form?: SubmittedForm;
  /** See `EntityOptions`. */
  readonly isStrict?: boolean;
  /** The body: an entity, an array of entities, or a FeatureCollection. */
  readonly text: string;
  /** Said of the first entity: that its model is deprecated. Completes "The entity …". */
  readonly deprecation?: string;
}

/** What `prepareModel` is run with. */
export type PrepareInput = Pick<ValidateInput, 'key' | 'type'> & { readonly schema: string };

export type ValidateOutcome = TaskAnswer<ValidationRefusal['kind']> | { readonly needs: 'model' };

/** Tasks that validate entities; they run in a worker, because models have patterns. */
export const validationTasks = {
  /**
   * Validates an entity, or each of an array of entities or of a FeatureCollection, against a model. The answer is JSON: `{valid, form, errors: [{pointer,
   * detail, keyword, line, column}], warnings: [{pointer, detail, code, line, column}]}`, or an array of these. Pointers lead
   * through the body as it was submitted. A worker that has not met the model yet needs it.
   */
  validate({ key, type, text, deprecation, ...options }: ValidateInput): ValidateOutcome {
    const model = compiledModel(key, type);
    if (model === undefined) return { needs: 'model' };
    const read = readJson(text);
    if ('unreadable' in read) return read;
    return validated(read.value as JsonValue, text, model, options, deprecation);
  },

  /**
   * Compiles a model, to be kept for entities. It depends on no entity, and takes longer than one.
   *
   * @throws {SchemaRefusedError | RangeError} for a schema that cannot be used, which no stored one should be
   */
  prepareModel({ key, type, schema }: PrepareInput): { readonly isPrepared: true } {
    compileModel(key, type, schema);
    return { isPrepared: true };
  },
};

export type ValidationTasks = typeof validationTasks;

function validated(
  body: JsonValue,
  text: string,
  model: Model,
  options: EntityOptions,
  deprecation: string | undefined,
): ValidateOutcome {
  const found = entitiesIn(body, options.form, model.types);
  if ('refused' in found) return found;
  const reports = new Reports();
  const spelling = new Spelling();
  for (const [index, { entity, path }] of found.entities.entries()) {
    const issues = validateInLikelyForm(entity, model, options, spelling);
    reports.add(entity, index === 0 ? noticed(issues, deprecation) : issues, path);
  }
  const written = reports.write(text).join();
  return bounded(found.isList ? `[${written}]` : written);
}

/** Issues of an entity with the notice that its model is deprecated. */
export function noticed<Issues extends EntityIssues>(
  issues: Issues,
  deprecation: string | undefined,
): Issues {
  if (deprecation === undefined) return issues;
  const notice = { tokens: [], code: 'deprecated-model', say: () => deprecation };
  return { ...issues, warnings: [notice, ...issues.warnings] };
}

/** The text of an answer, unless it is too long. */
export function bounded(answer: string): TaskAnswer<ValidationRefusal['kind']> {
  if (answer.length <= MAX_ANSWER) return { answer };
  const detail = `The report has more than ${MAX_ANSWER} characters: send fewer entities at a time.`;
  return { refused: { kind: 'limitExceeded', detail, errors: [] } };
}
