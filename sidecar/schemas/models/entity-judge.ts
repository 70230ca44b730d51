import type { Clock } from '../../shared/clock.js';
import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { isResourceName } from '../../shared/resource-name.js';
import { retryWhileBusy, TaskFailedError, TaskTooCostlyError } from '../../shared/workers/errors.js';
import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import type { ModelKey, SchemaStore } from '../../store/index.js';
import type { Judged } from '../validation/judged.js';
import type { JudgeOutcome, JudgingTasks } from '../validation/judging.js';
import type { KeptPage, ReadPage } from '../validation/kept-pages.js';
import type { NamedType } from '../validation/body-entities.js';
import { undefinedIfGone } from './concurrency.js';
import {
  addMissingSchemas,
  COMPILE_DEADLINES,
  parseModelName,
  type ModelSchema,
  type ModelSchemas,
} from './model-schemas.js';
import type { TypeModels } from './type-models.js';

export interface EntityJudgeParts {
  readonly store: SchemaStore;
  readonly schemas: ModelSchemas;
  readonly typeModels: TypeModels;
  readonly workers: TaskRunner<JudgingTasks>;
  readonly clock: Clock;
  /** Deadline of one task, in milliseconds. */
  readonly deadlineMs: number;
}

/** What entities are judged by: one model, a schema that is not stored, or the models of their types. */
interface JudgedBy {
  /** The domain in which the models of types are searched. */
  readonly domain?: string | undefined;
  /** A model, as `D/M` or `D/M@3`. */
  readonly model?: string | undefined;
  /** A schema that is not stored. If a model is named, entities are judged as if this were its schema. */
  readonly candidate?: JsonValue | undefined;
}

/** A model by which entities were judged. A schema that is not stored has version 0. */
interface JudgedModel {
  readonly domain: string;
  readonly model: string;
  readonly version: number;
}

/** The verdict on a page, or on a part of it. */
export type PageVerdict =
  | { readonly judged: Judged; readonly models: readonly JudgedModel[] }
  /** Number of entities that were not judged; `why` completes "1 entity was not judged: …". */
  | { readonly notJudged: number; readonly why: string; readonly sample: readonly string[] };

/** A page of entities. */
export interface JudgedPage {
  /** A JSON array of entities. */
  readonly text: string;
  /** Their ids, by position. */
  readonly ids: readonly string[];
}

/**
 * Maximum number of tasks per page: each may reach another worker that has not compiled all models yet, or find further
 * types.
 */
const MAX_ROUNDS = 64;

/** Maximum number of types whose models one scan looks up; entities of other types count as having no model. */
const MAX_TYPES = 2000;

/** Judges the entities of a broker, page by page, like POST /validate. */
export class EntityJudge {
  readonly #parts: EntityJudgeParts;

  constructor(parts: EntityJudgeParts) {
    this.#parts = parts;
  }

  /**
   * Returns a judge for one scan. Each model stays as it was when the scan first needed it.
   *
   * @throws NotFoundError, InvalidBodyError, SchemaRefusedError
   */
  async forScan({ domain, model, candidate }: JudgedBy): Promise<ScanJudge> {
    const { store, schemas } = this.#parts;
    const named = model === undefined ? undefined : parseModelName(model);
    if (candidate !== undefined) {
      const own = named?.name ?? nameOf(candidate);
      const key = { domain: named?.domain ?? '', name: own ?? NAMELESS };
      return this.#byOne(key, await schemas.ofNew(key, candidate), own === undefined);
    }
    if (named !== undefined) return this.#byOne(named, await schemas.of(named, named.version));
    if (domain !== undefined) await store.domains.get(domain);
    return new ScanJudge(this.#parts, domain, []);
  }

  #byOne({ domain, name: model }: ModelKey, schema: ModelSchema, isOfAnyType = false): ScanJudge {
    const { version } = schema;
    return new ScanJudge(this.#parts, undefined, [{ domain, model, version, schema, isOfAnyType }]);
  }
}

interface ScanModel extends JudgedModel {
  readonly schema: ModelSchema;
  /** Undefined for a model that judges all entities. */
  types?: string[];
  readonly isOfAnyType?: boolean;
}

/** Judges the entities of one scan. */
export class ScanJudge {
  readonly #parts: EntityJudgeParts;
  readonly #domain: string | undefined;
  readonly #models: ScanModel[];
  readonly #unknownTypes = new Set<string>();
  readonly #ambiguousTypes = new Set<string>();
  #lookedUp = 0;
  /** Where pages were read, by the list of their ids. */
  readonly #keptAt = new WeakMap<readonly string[], KeptPage>();
  /** The schemas by key, because a model may be deleted while entities are judged by it. */
  readonly #schemas = new Map<string, string>();

  constructor(parts: EntityJudgeParts, domain: string | undefined, models: ScanModel[]) {
    this.#parts = parts;
    this.#domain = domain;
    this.#models = models;
  }

  /**
   * Reads the ids in a page. The worker that has read it will judge it, if `judge` is given the very same list of ids.
   *
   * @returns undefined if that took too much time or memory
   * @throws the signal's reason
   */
  async readIds(text: string, signal: AbortSignal): Promise<ReadPage | undefined> {
    try {
      const read = await this.#run('readPage', { text }, { signal });
      if ('ids' in read) this.#keptAt.set(read.ids, read.kept);
      return read;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TaskTooCostlyError || error instanceof TaskFailedError)) throw error;
      return undefined;
    }
  }

  /**
   * Judges entities of a page. If that is too costly, they are judged in halves, down to single entities.
   *
   * @param take positions of the entities to judge
   * @param reported maximum number of invalid entities to report individually
   * @throws the signal's reason, StoreUnavailableError
   */
  async judge(
    page: JudgedPage,
    take: readonly number[],
    reported: number,
    signal: AbortSignal,
  ): Promise<readonly PageVerdict[]> {
    try {
      return [await this.#judgeAtOnce(page, take, reported, signal)];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TaskTooCostlyError || error instanceof TaskFailedError)) throw error;
      if (take.length === 1)
        return [
          { notJudged: 1, why: 'judging it took too much time or memory', sample: sampleOf(page, take) },
        ];
      const middle = Math.ceil(take.length / 2);
      const first = await this.judge(page, take.slice(0, middle), reported, signal);
      return [...first, ...(await this.judge(page, take.slice(middle), reported, signal))];
    }
  }

  async #judgeAtOnce(
    page: JudgedPage,
    take: readonly number[],
    reported: number,
    signal: AbortSignal,
  ): Promise<PageVerdict> {
    let missing: readonly string[] = [];
    let kept = this.#keptAt.get(page.ids);
    const beyondLimit: string[] = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const models = [...this.#models];
      const input = {
        page: kept ?? page.text,
        take,
        reported,
        models: models.map(({ schema, model, types, isOfAnyType = false }) => ({
          key: schema.contentHash,
          name: model,
          isOfAnyType,
          types,
        })),
        unknownTypes: [...this.#unknownTypes, ...beyondLimit],
        ambiguousTypes: [...this.#ambiguousTypes],
        schemas: [...this.#schemas].filter(([key]) => missing.includes(key)),
      };
      // Compiling takes longer than judging, but it ends, because the schemas were accepted.
      const deadlineMs = (input.schemas.length > 0 ? COMPILE_DEADLINES : 1) * this.#parts.deadlineMs;
      const options = { signal, deadlineMs, threadId: kept?.threadId };
      const outcome: JudgeOutcome = await this.#run('judge', input, options);
      if ('judged' in outcome) return { judged: outcome.judged, models };
      if ('text' in outcome.needs) kept = undefined;
      else if ('types' in outcome.needs) beyondLimit.push(...(await this.#lookUp(outcome.needs.types)));
      else {
        missing = [...missing, ...outcome.needs.schemas];
        await addMissingSchemas(this.#schemas, models, missing);
      }
    }
    const why = 'their models could not be compiled';
    return { notJudged: take.length, why, sample: sampleOf(page, take) };
  }

  /** Runs a task, and waits while all workers are busy. */
  #run<Kind extends keyof JudgingTasks>(
    kind: Kind,
    input: Parameters<JudgingTasks[Kind]>[0],
    options: RunOptions & { readonly signal: AbortSignal },
  ) {
    const { workers, clock } = this.#parts;
    const queueKey = `judge ${this.#models.map(({ schema }) => schema.contentHash).join(' ')}`;
    return retryWhileBusy(() => workers.run(kind, input, { ...options, queueKey }), clock, options.signal);
  }

  /** Looks up the models of types. @returns the types beyond the maximum, which are not remembered either */
  async #lookUp(types: readonly NamedType[]): Promise<readonly string[]> {
    const isNew = ({ type }: NamedType) =>
      !this.#unknownTypes.has(type) &&
      !this.#ambiguousTypes.has(type) &&
      !this.#models.some((one) => one.types?.includes(type) === true);
    const fresh = types.filter(isNew);
    const room = Math.max(0, MAX_TYPES - this.#lookedUp);
    for (const one of fresh.slice(0, room)) {
      await this.#lookUpOne(one);
      // Counted only now: while the store is unavailable, the same types are requested repeatedly.
      this.#lookedUp += 1;
    }
    return fresh.slice(room).map(({ type }) => type);
  }

  async #lookUpOne(one: NamedType): Promise<void> {
    const { type } = one;
    const found = await undefinedIfGone(this.#parts.typeModels.lookUp(one, this.#domain));
    if (found === 'ambiguous') this.#ambiguousTypes.add(type);
    // The model may have just been deleted.
    else if (found === 'unknown' || found === undefined) this.#unknownTypes.add(type);
    else {
      const { domain, name: model } = found.model;
      const { schema } = found;
      this.#schemas.set(schema.contentHash, await schema.text());
      // Another page may have found the model in the meantime.
      const known = this.#models.find((each) => each.domain === domain && each.model === model);
      if (known?.types !== undefined) known.types = [...new Set([...known.types, type])];
      else this.#models.push({ domain, model, version: schema.version, schema, types: [type] });
    }
  }
}

/** Maximum number of example ids, and of characters in one. */
const MAX_SAMPLE = 5;
const MAX_ID_CHARACTERS = 1000;

function sampleOf({ ids }: JudgedPage, take: readonly number[]): readonly string[] {
  return take.slice(0, MAX_SAMPLE).flatMap((index) => ids[index]?.slice(0, MAX_ID_CHARACTERS) ?? []);
}

/** Returns the name of a schema that is not stored; undefined if its title is not a valid model name. */
function nameOf(candidate: JsonValue): string | undefined {
  const title = isObject(candidate) ? member(candidate, 'title') : undefined;
  return typeof title === 'string' && isResourceName(title) ? title : undefined;
}

/** The name of an unnamed schema in records. */
const NAMELESS = 'Candidate';
