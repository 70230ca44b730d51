import type { UsedTime } from '../../shared/clock.js';
import type { ChangedPointer, CompareInput } from '../json-schema/tasks.js';
import type { ModelKey, ModelTexts, SchemaStore } from '../../store/index.js';
import { unlessTooCostly } from '../../shared/workers/errors.js';
import type { RunOptions } from '../../shared/workers/tasks.js';
import { comparableTerms, withoutCore } from '../json-ld/term-meanings.js';
import { type ChangeReport, reportOf, TOO_COMPLEX, unproven } from '../json-schema/differences.js';
import { retryIfContentGone, withBaseUrl } from './content-store.js';
import type { ContextLoader } from './context-loader.js';
import { type ModelDescriptions, fallbackIfTooCostly } from './model-descriptions.js';
import type { ServiceWorkers } from './model-tasks.js';

/** The changes between two stored versions of a model. */
export interface ModelDiff {
  readonly from: number;
  readonly to: number;
  /** As an update from one version to the other would report it. */
  readonly change: ChangeReport;
  /** Where the original schemas differ, including annotations; at most 1,000 places. */
  readonly pointers: readonly ChangedPointer[];
  readonly pointersTotal: number;
}

/** The parts of a model version that are compared. */
export interface ComparedVersion {
  /** Text of the self-contained schema. */
  readonly bundled: string;
  /** Text of the stored context. */
  readonly context: string;
}

/** The contexts to use instead of the stored ones, for each of the two versions. */
export interface CompareOptions {
  /** The base URL of this service, as the client reaches it. */
  readonly baseUrl: string;
  /** Texts that replace those of contexts of this service in the earlier version, by name. */
  readonly contextsBefore?: ReadonlyMap<string, string> | undefined;
  /** The same for the later version. */
  readonly contextsAfter?: ReadonlyMap<string, string> | undefined;
  /** Gives all tasks of a write one time limit together. */
  readonly time?: UsedTime | undefined;
}

/** Two versions of a model, with the current meaning of the terms of their contexts. */
export interface ComparedVersions {
  readonly input: CompareInput;
  /** Why the meaning of the terms is unknown although it is needed. */
  readonly unknown: string | undefined;
  /** As in the options. */
  readonly time: UsedTime | undefined;
}

interface Parts {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly descriptions: ModelDescriptions;
  readonly contextLoader: ContextLoader;
}

type Terms = NonNullable<CompareInput['terms']>['before'];

export const UNCHANGED: ChangeReport = { overall: 'compatible', differences: [] };

/** Maximum number of places in a diff. */
const MAX_POINTERS = 1000;

/** The share of the time for a comparison with witnesses; the rest is for one without, if necessary. */
const SHARE_WITH_WITNESSES = 3 / 4;

/** Compares versions of models: what their schemas accept, and what the terms of their contexts mean. */
export class ModelComparison {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Compares two stored versions of a model, in either order.
   *
   * @param range `to`: by default the current version; `from`: by default the one before `to`, or the first; `baseUrl`:
   * of this service
   * @throws NotFoundError, WorkersBusyError, TaskFailedError
   */
  diff(
    key: ModelKey,
    {
      from,
      to,
      baseUrl = '',
    }: {
      readonly from?: number | undefined;
      readonly to?: number | undefined;
      readonly baseUrl?: string | undefined;
    },
  ): Promise<ModelDiff> {
    const { store, workers } = this.#parts;
    return retryIfContentGone(async () => {
      const after = await store.models.texts(key, to);
      const before = await store.models.texts(key, from ?? Math.max(1, after.version.number - 1));
      const versions = await this.versions(key.name, await this.#stored(before), await this.#stored(after), {
        baseUrl,
      });
      const [change, pointers] = await Promise.all([
        this.between(versions),
        workers.run('changedPointers', { before: before.schema, after: after.schema }),
      ]);
      return {
        from: before.version.number,
        to: after.version.number,
        change,
        pointers: pointers.slice(0, MAX_POINTERS),
        pointersTotal: pointers.length,
      };
    });
  }

  /**
   * Reports the effect of newer versions of contexts on a stored model that follows them.
   *
   * @throws NotFoundError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  byContexts(key: ModelKey, options: CompareOptions): Promise<ChangeReport> {
    return retryIfContentGone(async () => {
      const current = await this.#stored(await this.#parts.store.models.texts(key));
      return this.between(await this.versions(key.name, current, current, options));
    });
  }

  /**
   * Determines the meaning of the terms of both contexts. A context of this service that one of them names by URL
   * counts in its current version, unless the options replace it.
   *
   * @param entityType the model's name
   * @throws WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async versions(
    entityType: string,
    before: ComparedVersion,
    after: ComparedVersion,
    { baseUrl, contextsBefore, contextsAfter, time }: CompareOptions,
  ): Promise<ComparedVersions> {
    const input = { before: before.bundled, after: after.bundled, entityType };
    const isSame = before.context === after.context;
    if (isSame && contextsBefore === undefined && contextsAfter === undefined)
      return { input, unknown: undefined, time };
    const [old, fresh] = await Promise.all([
      this.#termsOf(before.context, baseUrl, { replacements: contextsBefore, time }),
      this.#termsOf(after.context, baseUrl, { replacements: contextsAfter, time }),
    ]);
    // The context could not be processed before either, so nothing has changed.
    if (isSame && typeof old === 'string' && old === fresh) return { input, unknown: undefined, time };
    if (typeof old === 'object' && typeof fresh === 'object')
      return { input: { ...input, terms: { before: old, after: fresh } }, unknown: undefined, time };
    return { input, unknown: [old, fresh].find((one) => typeof one === 'string'), time };
  }

  /**
   * Reports the changes between two versions of a model, with witnesses unless searching for them is too costly. If the
   * comparison itself takes too much time or depth, the change counts as narrowing.
   *
   * @throws WorkersBusyError, TaskFailedError
   */
  async between({ input, unknown, time }: ComparedVersions): Promise<ChangeReport> {
    const { before, after, terms } = input;
    const report =
      before === after && terms === undefined
        ? UNCHANGED
        : ((await this.#compared({ ...input, withWitnesses: true }, { time, share: SHARE_WITH_WITNESSES })) ??
          (await this.#compared(input, { time })) ??
          TOO_COMPLEX);
    if (unknown === undefined) return report;
    return reportOf([
      unproven(`the meaning of the terms cannot be compared: ${unknown}`),
      ...report.differences,
    ]);
  }

  async #stored({ version, context }: ModelTexts): Promise<ComparedVersion> {
    const { bundled } = await this.#parts.descriptions.of(version);
    return { bundled, context };
  }

  /** Compares schemas; undefined if that takes too much time, memory or depth. */
  #compared(
    input: CompareInput,
    { time, share }: Pick<RunOptions, 'time' | 'share'>,
  ): Promise<ChangeReport | undefined> {
    // Without a limit in common, each task has its own. The worker that read the schemas to accept them still has them.
    const limits = time === undefined ? {} : { time, share };
    const options = { ...limits, affinity: input.entityType };
    return fallbackIfTooCostly(this.#parts.workers.run('compareSchemas', input, options), () => undefined);
  }

  /** Returns the meaning of the terms of a context, or why it is unknown. */
  async #termsOf(
    context: string,
    baseUrl: string,
    options: Parameters<ContextLoader['termsOf']>[2],
  ): Promise<Terms | string> {
    const text = JSON.stringify(withoutCore(context));
    const found = await unlessTooCostly(
      this.#parts.contextLoader.termsOf(text, baseUrl, options),
      ({ bound }) => ({ failed: `processing a context takes too much ${bound}` }),
    );
    if ('failed' in found) return withBaseUrl(found.failed, baseUrl);
    return comparableTerms({ terms: new Map(found.terms), defaults: found.defaults });
  }
}

/** Swaps the two versions. */
export function swapVersions({ input, ...rest }: ComparedVersions): ComparedVersions {
  const { before, after, terms } = input;
  const others = terms === undefined ? {} : { terms: { before: terms.after, after: terms.before } };
  return { input: { ...input, before: after, after: before, ...others }, ...rest };
}
