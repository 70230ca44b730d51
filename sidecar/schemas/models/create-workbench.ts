import type { CancelSignal } from '../../shared/cancel-signal.js';
import { WorkersBusyError } from '../../shared/workers/errors.js';
import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import type { InferenceTasks } from '../inference/tasks.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import type { ContextSupply } from './context-supply.js';
import type { ModelKey, ModelSchema, ModelService } from './service.js';
import type { ValidationTasks } from '../validation/tasks.js';
import type { ByTypeTasks } from '../validation/by-type-tasks.js';
import { deprecationOf } from './deprecation.js';
import { answerOf, withinBounds } from './workbench-errors.js';
import { validatedByType } from './validate-by-type.js';
import type { InferOptions, ProcessOptions, ValidateOptions, Workbench } from './workbench.js';

export type WorkbenchTasks = InferenceTasks & JsonLdTasks & ValidationTasks & ByTypeTasks;

export interface WorkbenchParts {
  readonly models: Pick<ModelService, 'schema' | 'ofType'>;
  readonly contexts: ContextSupply;
  readonly workers: TaskRunner<WorkbenchTasks>;
  /** Deadline of one task, in milliseconds. */
  readonly deadlineMs: number;
}

/** Characters of all bodies that are processed or wait. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** How many deadlines of a task the compilation of a model may take. */
const COMPILE_DEADLINES = 5;

/** Each round may reach another worker, which has not compiled the model yet. */
const MAX_ROUNDS = 16;

/** The workbench on the models and contexts of a schema service. The caller closes the workers. */
export function createWorkbench(parts: WorkbenchParts): Workbench {
  const budget = new BodyBudget(MAX_CHARACTERS);
  return {
    infer: (text, options) => budget.with(text, () => infer(parts, text, options)),
    expand: (text, options) => budget.with(text, () => processed(parts, 'expandDocument', text, options)),
    compact: (text, options) => budget.with(text, () => processed(parts, 'compactDocument', text, options)),
    validateByType: (text, options) => budget.with(text, () => validatedByType(parts, text, options)),
    validate: (key, text, options) =>
      budget.with(text, async () =>
        validated(parts, await parts.models.schema(key, options.version), key, text, options),
      ),
    validateAgainst: (schema, key, text, options) =>
      budget.with(text, () => validated(parts, schema, key, text, options)),
  };
}

/** Options for a task whose caller may disconnect. */
function runOptions(signal: CancelSignal | undefined): RunOptions {
  return signal === undefined ? {} : { signal, mayFinish: true };
}

async function infer(
  { workers }: WorkbenchParts,
  text: string,
  { model, isStrict = true, signal, ...options }: InferOptions,
): Promise<string> {
  const input = { text, isStrict, ...options, ...(model === undefined ? {} : { model }) };
  return answerOf(await withinBounds(workers.run('infer', input, runOptions(signal))));
}

async function processed(
  { contexts, workers }: WorkbenchParts,
  kind: 'expandDocument' | 'compactDocument',
  text: string,
  { baseUrl, signal }: ProcessOptions,
): Promise<string> {
  const stamp = await contexts.stamp(baseUrl);
  const outcome = await runWithContexts(
    (supplied) => withinBounds(workers.run(kind, { text, stamp, supplied }, runOptions(signal))),
    (url) => contexts.supply(url, baseUrl),
  );
  return answerOf(outcome);
}

/** A worker that has compiled the model before needs only its content hash. */
async function validated(
  { workers, deadlineMs }: WorkbenchParts,
  { contentHash, text: schemaText, lifecycle }: ModelSchema,
  key: ModelKey,
  text: string,
  { form, isStrict = true, signal }: ValidateOptions,
): Promise<string> {
  const model = { key: contentHash, type: key.name };
  const asGiven = {
    ...(form === undefined ? {} : { form }),
    ...(isStrict ? {} : { isStrict }),
    ...deprecationOf(key, lifecycle),
  };
  // If one entity of a model is slow to check, others are, too.
  const options = { ...runOptions(signal), queueKey: `validate ${contentHash}` };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const outcome = await withinBounds(workers.run('validate', { ...model, text, ...asGiven }, options));
    if (!('needs' in outcome)) return answerOf(outcome);
    // The schema was accepted before, so compiling it ends, but a large one takes longer than any entity.
    const compiling = { ...options, deadlineMs: COMPILE_DEADLINES * deadlineMs };
    const input = { ...model, schema: await schemaText() };
    await withinBounds(workers.run('prepareModel', input, compiling));
  }
  throw new WorkersBusyError(MAX_ROUNDS);
}

/** Limits the memory for bodies: workers take few tasks at a time, and each waiting task keeps its text in memory. */
export class BodyBudget {
  readonly #maxCharacters: number;
  #characters = 0;
  #texts = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /**
   * Runs the work on a text. A single text may have any length.
   *
   * @throws WorkersBusyError when the budget is used up; and whatever the work throws
   */
  async with<Result>({ length }: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#texts > 0 && this.#characters + length > this.#maxCharacters)
      throw new WorkersBusyError(this.#texts);
    this.#texts += 1;
    this.#characters += length;
    try {
      return await work();
    } finally {
      this.#texts -= 1;
      this.#characters -= length;
    }
  }
}
