import type { ContextResults } from '../schemas/json-ld/errors.js';
import type { WriteTasks } from '../schemas/writes/tasks.js';
import type {
  Judgement,
  JudgeInput,
  JudgeNeeds,
  JudgeOutcome,
  StoredTypes,
  SuppliedToJudge,
} from '../schemas/writes/protocol.js';
import type { CancelSignal } from '../shared/cancel-signal.js';
import type { Clock } from '../shared/clock.js';
import { TaskTooCostlyError, WorkersBusyError } from '../shared/workers/errors.js';
import type { RunOptions, TaskRunner } from '../shared/workers/tasks.js';
import type { ModelLoader } from './model-loader.js';

/**
 * Time limit of one judgement, in milliseconds, and the number of bytes of the body that add one millisecond. For a
 * batch that number is smaller, because each of its entities is judged.
 */
const BASE_DEADLINE_MS = 50;
const BYTES_PER_MS = { entity: 8192, batch: 256 } as const;
const MAX_DEADLINE_MS = 5000;

/** Time limit of preparing, in milliseconds. It happens once for each worker, and does not depend on the client. */
const PREPARE_DEADLINE_MS = 10_000;

/** Maximum number of rounds: each need may arise in every worker. */
const MAX_ROUNDS = 24;

/** How long after a judgement that took too long all writes are grouped by their models, in milliseconds. */
const GROUPING_MS = 60_000;

interface JudgeOptions {
  readonly signal: CancelSignal;
  /** Returns the types of stored entities. */
  readonly typesOf: (
    ids: readonly string[],
  ) => Promise<readonly (readonly [id: string, types: StoredTypes])[]>;
}

/** Judges writes in workers, and supplies what they need. */
export class Judge {
  readonly #workers: TaskRunner<WriteTasks>;
  readonly #models: ModelLoader;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #groupsUntilMs = -Infinity;

  constructor(workers: TaskRunner<WriteTasks>, models: ModelLoader, clock: Pick<Clock, 'monotonicMs'>) {
    this.#workers = workers;
    this.#models = models;
    this.#clock = clock;
  }

  /**
   * Judges a write.
   *
   * @throws WorkersBusyError, TaskTooCostlyError, TaskFailedError, StoreUnavailableError, the reason of the signal,
   * and what `entities` throws
   */
  async judge(input: Omit<JudgeInput, 'supplied'>, options: JudgeOptions): Promise<Judgement> {
    // A client can write any type first, so that slow writes do not look alike: then the models say which ones do.
    let asksModels = this.#clock.monotonicMs() < this.#groupsUntilMs;
    let run: RunOptions = {
      signal: options.signal,
      mayFinish: true,
      deadlineMs: deadlineOf(input),
      queueKey: asksModels ? modelsKeyOf(input.bytes) : queueKeyOf(input.bytes),
    };
    let supplied: SuppliedToJudge = {};
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const outcome = await this.#judge({ ...input, asksModels, supplied }, run);
      if ('judged' in outcome) return outcome.judged;
      const { judges } = outcome.needs;
      if (judges !== undefined) {
        asksModels = false;
        run = { ...run, queueKey: `write by ${judges.toSorted().join()}` };
        continue;
      }
      supplied = await this.#supply(input.stamp, outcome.needs, supplied, options, run);
    }
    throw new WorkersBusyError(MAX_ROUNDS);
  }

  async #judge(input: JudgeInput, run: RunOptions): Promise<JudgeOutcome> {
    try {
      return await this.#workers.run('judgeWrite', input, run);
    } catch (error) {
      if (error instanceof TaskTooCostlyError) this.#groupsUntilMs = this.#clock.monotonicMs() + GROUPING_MS;
      throw error;
    }
  }

  async #supply(
    stamp: string,
    needs: JudgeNeeds,
    before: SuppliedToJudge,
    { typesOf }: JudgeOptions,
    run: RunOptions,
  ): Promise<SuppliedToJudge> {
    const { types = [], models = [], entities = [] } = needs;
    const [foundTypes, foundModels, foundEntities] = await Promise.all([
      this.#models.modelsOfTypes(types, stamp),
      this.#models.modelsNamed(models),
      entities.length === 0 ? [] : typesOf(entities),
    ]);
    const contexts = await this.#prepareWorker(stamp, needs, before.contexts ?? [], run);
    return {
      contexts,
      types: [...(before.types ?? []), ...foundTypes],
      models: [...(before.models ?? []), ...foundModels],
      entities: [...(before.entities ?? []), ...foundEntities],
    };
  }

  /** Has the worker prepare what it lacks. @returns the contexts known afterwards */
  async #prepareWorker(
    stamp: string,
    { urls, context, unprepared, threadId }: JudgeNeeds,
    before: ContextResults,
    run: RunOptions,
  ): Promise<ContextResults> {
    if (urls === undefined && unprepared === undefined) return before;
    const prepareOptions = { ...run, deadlineMs: PREPARE_DEADLINE_MS, threadId };
    const models = await this.#models.withSchemas(unprepared ?? []);
    let contexts = before;
    let needed = urls ?? [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      contexts = [...contexts, ...(await this.#models.contexts(needed))];
      const input = { stamp, contexts, models, context };
      const outcome = await this.#workers.run('prepareWrites', input, prepareOptions);
      const known = new Set(contexts.map(([url]) => url));
      needed = [...new Set(outcome.urls)].filter((url) => !known.has(url));
      if (needed.length === 0) break;
    }
    return contexts;
  }
}

function deadlineOf({ bytes, kind }: Pick<JudgeInput, 'bytes' | 'kind'>): number {
  const each = kind.startsWith('batch-') ? BYTES_PER_MS.batch : BYTES_PER_MS.entity;
  return Math.min(MAX_DEADLINE_MS, BASE_DEADLINE_MS + Math.floor(bytes.length / each));
}

/** Only a body larger than this, in bytes, takes long to read, above all its @context. */
const LARGE_BYTES = 65_536;

/** Groups the tasks that name the models of writes. */
function modelsKeyOf(bytes: string): string {
  return bytes.length > LARGE_BYTES ? 'models of large writes' : 'models of writes';
}

/** Number of characters at the start of a body that are searched for a type. */
const MAX_SEARCHED_CHARS = 4096;

const TYPE = /"@?type"\s*:\s*"([^"\\]{1,200})"/g;
const ATTRIBUTE_TYPE = /^(?:(?:Geo|Language|Vocab|Json|List)?Property|(?:List)?Relationship|Point|Polygon)$/;

/** Groups writes by type: if one entity of a type is slow to judge, others may be as well. */
function queueKeyOf(bytes: string): string {
  for (const [, type = ''] of bytes.slice(0, MAX_SEARCHED_CHARS).matchAll(TYPE))
    if (!ATTRIBUTE_TYPE.test(type)) return `write ${type}`;
  return 'write';
}
