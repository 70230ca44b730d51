import type { InferenceTasks } from '../inference/tasks.js';
import { runWithContexts } from '../json-ld/run-with-contexts.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import type { ContextSupply } from '../schema-service/context-supply.js';
import type { ModelKey, ModelService } from '../schema-service/service.js';
import type { ValidateOutcome, ValidationTasks } from '../validation/tasks.js';
import { TaskFailedError } from '../workers/errors.js';
import type { TaskRunner } from '../workers/tasks.js';
import { answerOf, withinBounds } from './outcome.js';
import { TextsInFlight } from './texts-in-flight.js';
import type { InferOptions, ProcessOptions, ValidateOptions, Workbench } from './workbench.js';

export type WorkbenchTasks = InferenceTasks & JsonLdTasks & ValidationTasks;

export interface WorkbenchParts {
  readonly models: Pick<ModelService, 'schema'>;
  readonly contexts: ContextSupply;
  readonly workers: TaskRunner<WorkbenchTasks>;
}

/** Of all bodies that are worked on or wait. */
const CHARACTERS_MAX = 64 * 1024 * 1024;

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

async function infer(
  { workers }: WorkbenchParts,
  text: string,
  { model, ...options }: InferOptions,
): Promise<string> {
  const input = { text, ...options, ...(model === undefined ? {} : { model }) };
  return answerOf(await withinBounds(workers.run('infer', input)));
}

async function processed(
  { contexts, workers }: WorkbenchParts,
  kind: 'expandDocument' | 'compactDocument',
  text: string,
  { baseUrl }: ProcessOptions,
): Promise<string> {
  const stamp = await contexts.stamp(baseUrl);
  const outcome = await runWithContexts(
    (supplied) => withinBounds(workers.run(kind, { text, stamp, supplied })),
    (url) => contexts.supply(url, baseUrl),
  );
  return answerOf(outcome);
}

/** A worker that has compiled the model before needs nothing but the name of its content. */
async function validated(
  { models, workers }: WorkbenchParts,
  key: ModelKey,
  text: string,
  { version, form, isStrict = true }: ValidateOptions,
): Promise<string> {
  const { contentHash, text: schemaText } = await models.schema(key, version);
  const asGiven = { ...(form === undefined ? {} : { form }), ...(isStrict ? {} : { isStrict }) };
  const input = { key: contentHash, type: key.name, text, ...asGiven };
  // Whatever makes one entity slow to check makes others of the model slow as well.
  const lane = `validate ${contentHash}`;
  const run = async (model?: { readonly schema: string }): Promise<ValidateOutcome> =>
    withinBounds(workers.run('validate', model === undefined ? input : { ...input, model }, { lane }));

  const first = await run();
  const outcome = 'needs' in first ? await run({ schema: await schemaText() }) : first;
  if ('needs' in outcome) throw new TaskFailedError('A worker did not take the schema of a model.');
  return answerOf(outcome);
}
