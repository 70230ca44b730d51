import type { ContextResults } from '../schemas/json-ld/errors.js';
import type { WriteTasks } from '../schemas/writes/tasks.js';
import type {
  Judgement,
  JudgeInput,
  JudgeNeeds,
  StoredTypes,
  SuppliedToJudge,
} from '../schemas/writes/protocol.js';
import type { CancelSignal } from '../shared/cancel-signal.js';
import { WorkersBusyError } from '../shared/workers/errors.js';
import type { RunOptions, TaskRunner } from '../shared/workers/tasks.js';
import type { ModelSupply } from './model-supply.js';

/**
 * Time limit of one judgement, in milliseconds, and the number of bytes of the body that add one millisecond. For a
 * batch that number is smaller, because each of its entities is judged.
 */
const JUDGE_MS = 50;
const BYTES_PER_MS = { entity: 8192, batch: 256 } as const;
const MAX_JUDGE_MS = 5000;

/** Time limit of preparing, in milliseconds. It happens once for each worker, and does not depend on the client. */
const PREPARE_MS = 10_000;

/** Maximum number of rounds: each need may arise in every worker. */
const MAX_ROUNDS = 24;

interface JudgeOptions {
  readonly signal: CancelSignal;
  /** The URL at which the client reaches this service. */
  readonly baseUrl: string;
  /** Returns the types of stored entities. */
  readonly entities: (
    ids: readonly string[],
  ) => Promise<readonly (readonly [id: string, types: StoredTypes])[]>;
}

/** Judges writes in workers, and supplies what they need. */
export class Judge {
  readonly #workers: TaskRunner<WriteTasks>;
  readonly #supply: ModelSupply;

  constructor(workers: TaskRunner<WriteTasks>, supply: ModelSupply) {
    this.#workers = workers;
    this.#supply = supply;
  }

  /**
   * Judges a write.
   *
   * @throws WorkersBusyError, TaskTooCostlyError, TaskFailedError, StoreUnavailableError, the reason of the signal,
   * and what `entities` throws
   */
  async judge(input: Omit<JudgeInput, 'supplied'>, options: JudgeOptions): Promise<Judgement> {
    const run: RunOptions = {
      signal: options.signal,
      mayFinish: true,
      deadlineMs: deadlineOf(input),
      queueKey: queueKeyOf(input.bytes),
    };
    let supplied: SuppliedToJudge = {};
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const outcome = await this.#workers.run('judgeWrite', { ...input, supplied }, run);
      if ('judged' in outcome) return outcome.judged;
      supplied = await this.#supplied(input.stamp, outcome.needs, supplied, options, run);
    }
    throw new WorkersBusyError(MAX_ROUNDS);
  }

  async #supplied(
    stamp: string,
    needs: JudgeNeeds,
    before: SuppliedToJudge,
    { baseUrl, entities: typesOf }: JudgeOptions,
    run: RunOptions,
  ): Promise<SuppliedToJudge> {
    const { types = [], models = [], entities = [] } = needs;
    const [foundTypes, foundModels, foundEntities] = await Promise.all([
      this.#supply.types(types, stamp),
      this.#supply.models(models),
      entities.length === 0 ? [] : typesOf(entities),
    ]);
    const contexts = await this.#prepared(stamp, needs, before.contexts ?? [], baseUrl, run);
    return {
      contexts,
      types: [...(before.types ?? []), ...foundTypes],
      models: [...(before.models ?? []), ...foundModels],
      entities: [...(before.entities ?? []), ...foundEntities],
    };
  }

  /** Has the worker prepare what it lacks. @returns the contexts known afterwards */
  async #prepared(
    stamp: string,
    { urls, context, unprepared, threadId }: JudgeNeeds,
    before: ContextResults,
    baseUrl: string,
    run: RunOptions,
  ): Promise<ContextResults> {
    if (urls === undefined && unprepared === undefined) return before;
    const slowly = { ...run, deadlineMs: PREPARE_MS, threadId };
    const ready = await this.#supply.withSchemas(unprepared ?? []);
    let contexts = before;
    let needed = urls ?? [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      contexts = [...contexts, ...(await this.#supply.contexts(needed, baseUrl))];
      const input = { stamp, contexts, models: ready, context };
      const outcome = await this.#workers.run('prepareWrites', input, slowly);
      const known = new Set(contexts.map(([url]) => url));
      needed = [...new Set(outcome.urls)].filter((url) => !known.has(url));
      if (needed.length === 0) break;
    }
    return contexts;
  }
}

function deadlineOf({ bytes, kind }: Pick<JudgeInput, 'bytes' | 'kind'>): number {
  const each = kind.startsWith('batch-') ? BYTES_PER_MS.batch : BYTES_PER_MS.entity;
  return Math.min(MAX_JUDGE_MS, JUDGE_MS + Math.floor(bytes.length / each));
}

/** Number of characters at the start of a body that are searched for a type. */
const MAX_SCANNED = 4096;

const TYPE = /"@?type"\s*:\s*"([^"\\]{1,200})"/g;
const OF_ATTRIBUTES = /^(?:(?:Geo|Language|Vocab|Json|List)?Property|(?:List)?Relationship|Point|Polygon)$/;

/** Groups writes by type: if one entity of a type is slow to judge, others may be as well. */
function queueKeyOf(bytes: string): string {
  for (const [, type = ''] of bytes.slice(0, MAX_SCANNED).matchAll(TYPE))
    if (!OF_ATTRIBUTES.test(type)) return `write ${type}`;
  return 'write';
}
