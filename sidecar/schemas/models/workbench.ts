import type { UsedTime } from '../../shared/clock.js';
import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import type { CancelSignal } from '../../shared/cancel-signal.js';
import type { TaskAnswer } from '../../shared/task-answer.js';
import { unlessTooCostly, WorkersBusyError } from '../../shared/workers/errors.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { ModelKey } from '../../store/index.js';
import type { InferenceTasks } from '../inference/tasks.js';
import type { ContextResults } from '../json-ld/errors.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import type { EntityModel, ValidationTasks } from '../validation/tasks.js';
import type { ContextLoader } from './context-loader.js';
import {
  addMissingSchemas,
  COMPILE_DEADLINES,
  deprecationOf,
  type ModelSchema,
  type ModelSchemas,
} from './model-schemas.js';
import { titleOf, type TypeModel, type TypeModels } from './type-models.js';
import {
  DeadlineExceededError,
  UnreadableBodyError,
  WorkbenchRefusedError,
  type WorkRefusal,
} from './workbench-errors.js';

/** Options of all methods. */
interface WorkOptions {
  /** Aborts when the client disconnects: waiting work is dropped, and running work continues within its deadline. */
  readonly signal?: CancelSignal | undefined;
}

/** How samples are written, and what the inferred schema is for. */
export interface InferOptions extends WorkOptions {
  /** Name of the model for which the schema is inferred. */
  readonly model?: string | undefined;
  /**
   * The form of the samples: plain objects or entities; `ngsi-ld` covers every representation, which is detected for
   * each entity.
   */
  readonly form: 'keyvalues' | 'ngsi-ld' | 'ngsiv2' | 'geojson';
  /** Whether strings with few different values become enums. */
  readonly enumerates: boolean;
  /** If false, entities that violate NGSI-LD are read as far as possible. True by default. */
  readonly isStrict?: boolean | undefined;
}

/** The version of the model, and how entities are read. */
export interface ValidateOptions extends WorkOptions {
  /** Version of the model; the current one by default. */
  readonly version?: number | undefined;
  /** The representation of the entity; detected by default. */
  readonly form?: SubmittedForm | undefined;
  /** If false, a violation of NGSI-LD alone is a warning. True by default. */
  readonly isStrict?: boolean | undefined;
}

/** How entities are read, and where their models are searched. */
export interface ValidateByTypeOptions extends Omit<ValidateOptions, 'version'> {
  /** The domain in which models are searched; all by default. */
  readonly domain?: string | undefined;
}

export interface ProcessOptions extends WorkOptions {
  /**
   * The URL under which clients reach this service, without a trailing slash. Contexts below it belong to the service.
   */
  readonly baseUrl: string;
}

type WorkbenchTasks = InferenceTasks & JsonLdTasks & ValidationTasks;

export interface WorkbenchParts {
  readonly schemas: ModelSchemas;
  readonly typeModels: TypeModels;
  readonly contextLoader: ContextLoader;
  readonly workers: TaskRunner<WorkbenchTasks>;
  /** Deadline of one task, in milliseconds. */
  readonly deadlineMs: number;
}

/** Maximum number of characters of all bodies that are processed or wait. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Maximum number of tasks per validation: each may reach another worker that has not compiled the models yet. */
const MAX_ROUNDS = 16;

/**
 * Processes documents that users submit. The work runs in workers, within a deadline, and changes nothing.
 *
 * Each method takes the text of a body and returns that of the answer, both JSON. Each can fail with
 * UnreadableBodyError, WorkbenchRefusedError, DeadlineExceededError, WorkersBusyError, TaskFailedError, the reason of
 * the signal and, if stored data is needed, StoreUnavailableError.
 */
export class Workbench {
  readonly #parts: WorkbenchParts;
  readonly #budget = new BodyBudget(MAX_CHARACTERS);

  /** The caller closes the workers. */
  constructor(parts: WorkbenchParts) {
    this.#parts = parts;
  }

  /** Infers a JSON Schema from one sample, or from an array of samples. */
  infer(text: string, { signal, ...options }: InferOptions): Promise<string> {
    return this.#budget.with(text, async () => {
      const inferring = this.#parts.workers.run('infer', { text, ...options }, { signal, mayFinish: true });
      return answerOf(await withLimitErrors(inferring));
    });
  }

  /** Expands the JSON-LD in `{document, context?, safe?}`; the answer is `{result, warnings}`. */
  expand(text: string, options: ProcessOptions): Promise<string> {
    return this.#processed('expandDocument', text, options);
  }

  /** Compacts JSON-LD; input and answer are as for `expand`. */
  compact(text: string, options: ProcessOptions): Promise<string> {
    return this.#processed('compactDocument', text, options);
  }

  /**
   * Validates an entity, or an array of entities, against a model; the answer is `{valid, form, errors, warnings}`, or
   * an array of these.
   *
   * @throws NotFoundError
   */
  validate(key: ModelKey, text: string, options: ValidateOptions): Promise<string> {
    return this.#budget.with(text, async () =>
      this.#against(await this.#parts.schemas.of(key, options.version), key, text, options),
    );
  }

  /**
   * Validates as `validate` does, but against the newest versions of all models of the entities' types; the answer also
   * has `models`, a list of `domain/model`.
   *
   * @throws WorkbenchRefusedError: `notFound` if an entity has no known type, `typeAmbiguous` if a type belongs to
   * several models
   */
  validateByType(text: string, options: ValidateByTypeOptions): Promise<string> {
    return this.#budget.with(text, () => this.#validated(text, [], options));
  }

  /** Validates as `validate` does, but against a schema that the model may not have yet. */
  validateAgainst(
    schema: ModelSchema,
    key: ModelKey,
    text: string,
    options: Omit<ValidateOptions, 'version'>,
  ): Promise<string> {
    return this.#budget.with(text, () => this.#against(schema, key, text, options));
  }

  #against(
    schema: ModelSchema,
    key: ModelKey,
    text: string,
    options: Omit<ValidateOptions, 'version'>,
  ): Promise<string> {
    const model = { schema, name: key.name, ...deprecationOf(key, schema.lifecycle) };
    return this.#validated(text, [model], options);
  }

  #processed(
    kind: 'expandDocument' | 'compactDocument',
    text: string,
    { baseUrl, signal }: ProcessOptions,
  ): Promise<string> {
    const { contextLoader, workers } = this.#parts;
    return this.#budget.with(text, async () => {
      const stamp = await contextLoader.stamp(baseUrl);
      const run = (supplied: ContextResults, time: UsedTime) =>
        withLimitErrors(workers.run(kind, { text, stamp, supplied }, { signal, mayFinish: true, time }));
      const outcome = await runWithContexts(run, (url) => contextLoader.load(url, baseUrl));
      return answerOf(outcome);
    });
  }

  /** @param named the model of all entities; empty to find models by type, in `domain` if that is given */
  async #validated(
    text: string,
    named: readonly WorkModel[],
    { form, isStrict, signal, domain }: ValidateByTypeOptions,
  ): Promise<string> {
    const { workers, typeModels, deadlineMs } = this.#parts;
    const schemas = new Map<string, string>();
    let models = named;
    let unknownTypes: readonly string[] = [];
    let areKept = true;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const tasked = models.map(({ schema, ...model }) => ({ key: schema.contentHash, ...model }));
      const keys = tasked.map(({ key }) => key).join(' ');
      // If one entity of a model is slow to validate, others probably are as well.
      const queueKey = keys === '' ? undefined : `validate ${keys}`;
      const options = { signal, mayFinish: true, queueKey, affinity: models[0]?.name };
      // Compiling takes longer than validating an entity; entities get no more time because of it.
      const compiling = { ...options, deadlineMs: COMPILE_DEADLINES * deadlineMs };
      const input = { text, form, isStrict, models: tasked, unknownTypes };
      // Models that do not fit into a worker's cache together are compiled for each validation.
      const outcome = await withLimitErrors(
        areKept
          ? workers.run('validate', input, options)
          : workers.run('validate', { ...input, schemas: [...schemas] }, compiling),
      );
      if (!('needs' in outcome)) return answerOf(outcome);
      if ('types' in outcome.needs) {
        const found = await typeModels.of(outcome.needs.types, domain);
        ({ unknownTypes } = found);
        models = found.models.map(workModel);
        continue;
      }
      await addMissingSchemas(schemas, models, outcome.needs.schemas);
      const compiled = await withLimitErrors(
        workers.run('compileModels', { models: tasked, schemas: [...schemas] }, compiling),
      );
      if ('needs' in compiled) await addMissingSchemas(schemas, models, compiled.needs);
      else ({ areKept } = compiled);
    }
    throw new WorkersBusyError(MAX_ROUNDS);
  }
}

/** Returns the answer of a task, or throws its refusal. @throws UnreadableBodyError, WorkbenchRefusedError */
function answerOf(outcome: TaskAnswer<WorkRefusal>): string {
  if ('answer' in outcome) return outcome.answer;
  if ('unreadable' in outcome) throw new UnreadableBodyError(outcome.unreadable);
  const { kind, detail, errors, url } = outcome.refused;
  throw new WorkbenchRefusedError(kind, detail, errors, url);
}

/**
 * Turns exceeded limits of a worker into errors that blame the input.
 *
 * @throws DeadlineExceededError, WorkbenchRefusedError, or what the work throws
 */
function withLimitErrors<Result>(work: Promise<Result>): Promise<Result> {
  return unlessTooCostly(work, (cause) => {
    if (cause.bound === 'time')
      throw new DeadlineExceededError('The work exceeded WORKBENCH_TIMEOUT_MS and was ended.', { cause });
    const detail = 'The work took too much memory and was ended. Send less at a time.';
    throw new WorkbenchRefusedError('limitExceeded', detail, [], undefined, { cause });
  });
}

/** A model that entities are validated against, with the source of its schema. */
interface WorkModel extends Omit<EntityModel, 'key'> {
  readonly schema: ModelSchema;
}

function workModel({ model, schema, types }: TypeModel): WorkModel {
  const byType = { title: titleOf(model), types };
  return { schema, name: model.name, byType, ...deprecationOf(model, schema.lifecycle) };
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
   * Runs work on a text. A single text may have any length.
   *
   * @throws WorkersBusyError if the budget is used up; and what the work throws
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
