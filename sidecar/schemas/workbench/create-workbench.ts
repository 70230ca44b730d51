import type { CancelSignal } from '../../shared/cancel-signal.js';
import { WorkersBusyError } from '../../shared/workers/errors.js';
import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import type { InferenceTasks } from '../inference/tasks.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import type { ContextSupply } from '../service/context-supply.js';
import type { ModelKey, ModelService } from '../service/service.js';
import type { ValidationTasks } from '../validation/tasks.js';
import { answerOf, withinBounds } from './errors.js';
import type { InferOptions, ProcessOptions, ValidateOptions, Workbench } from './workbench.js';

export type WorkbenchTasks = InferenceTasks & JsonLdTasks & ValidationTasks;

export interface WorkbenchParts {
  readonly models: Pick<ModelService, 'schema'>;
  readonly contexts: ContextSupply;
  readonly workers: TaskRunner<WorkbenchTasks>;
  /** Of one task, in milliseconds. */
  readonly deadlineMs: number;
}

/** Of all bodies that are worked on or wait. */
const CHARACTERS_MAX = 64 * 1024 * 1024;

/** How much longer than a task the compilation of a model may take. */
const COMPILE_DEADLINES = 5;

/** Each time it may be another worker that is free. */
const ROUNDS_MAX = 16;

/** The workbench on the models and contexts of a schema service. Closing the workers is left to whoever opened them. */
export function createWorkbench(parts: WorkbenchParts): Workbench {
  const texts = new TextsInFlight(CHARACTERS_MAX);
  return {
    infer: (text, options) => texts.with(text, () => infer(parts, text, options)),
    expand: (text, options) => texts.with(text, () => processed(parts, 'expandDocument', text, options)),
    compact: (text, options) => texts.with(text, () => processed(parts, 'compactDocument', text, options)),
    validate: (key, text, options) => texts.with(text, () => validated(parts, key, text, options)),
  };
}

/** What a task is run with when its caller may go away. */
function runOptions(signal: CancelSignal | undefined): RunOptions {
  return signal === undefined ? {} : { signal, mayFinish: true };
}

async function infer(
  { workers }: WorkbenchParts,
  text: string,
  { model, signal, ...options }: InferOptions,
): Promise<string> {
  const input = { text, ...options, ...(model === undefined ? {} : { model }) };
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

/** A worker that has compiled the model before needs nothing but the name of its content. */
async function validated(
  { models, workers, deadlineMs }: WorkbenchParts,
  key: ModelKey,
  text: string,
  { version, form, isStrict = true, signal }: ValidateOptions,
): Promise<string> {
  const { contentHash, text: schemaText } = await models.schema(key, version);
  const model = { key: contentHash, type: key.name };
  const asGiven = { ...(form === undefined ? {} : { form }), ...(isStrict ? {} : { isStrict }) };
  // Whatever makes one entity slow to check makes others of the model slow as well.
  const options = { ...runOptions(signal), lane: `validate ${contentHash}` };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const outcome = await withinBounds(workers.run('validate', { ...model, text, ...asGiven }, options));
    if (!('needs' in outcome)) return answerOf(outcome);
    // The schema was accepted, so that compiling it ends; large ones take longer than any entity.
    const compiling = { ...options, deadlineMs: COMPILE_DEADLINES * deadlineMs };
    const input = { ...model, schema: await schemaText() };
    await withinBounds(workers.run('prepareModel', input, compiling));
  }
  throw new WorkersBusyError(ROUNDS_MAX);
}

/**
 * Keeps the texts of all work that runs or waits within a bound: workers take few tasks at a time, and each task keeps its
 * text in memory until then.
 */
export class TextsInFlight {
  readonly #charactersMax: number;
  #characters = 0;
  #texts = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /**
   * Does the work on a text. A text that is alone is taken whatever its length.
   *
   * @throws WorkersBusyError when others are in the way; and whatever the work throws
   */
  async with<Result>({ length }: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#texts > 0 && this.#characters + length > this.#charactersMax)
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
