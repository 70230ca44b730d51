import type { ChangedPointer, CompareInput } from '../json-schema/tasks.js';
import type { ModelKey, ModelTexts, SchemaStore } from '../../store/index.js';
import { unlessTooCostly } from '../../shared/workers/errors.js';
import { comparableTerms, withoutCore } from '../json-ld/term-meanings.js';
import { type ChangeReport, reportOf, TOO_COMPLEX, unproven } from '../json-schema/differences.js';
import { rereading, withBaseUrl } from './contents.js';
import type { ContextSupply } from './context-supply.js';
import { type ModelDescriptions, unlessTooMuch } from './model-descriptions.js';
import type { ServiceWorkers } from './model-tasks.js';

/** What has changed from one stored version of a model to another. */
export interface ModelDiff {
  readonly from: number;
  readonly to: number;
  /** As an update from the one to the other would report it. */
  readonly change: ChangeReport;
  /** Where the schemas differ as they were given, including annotations; at most 1,000. */
  readonly pointers: readonly ChangedPointer[];
  readonly pointersTotal: number;
}

/** A version of a model, as far as it is compared. */
export interface ComparedVersion {
  /** Text of the schema, self-contained. */
  readonly bundled: string;
  /** Text of the context, as it is stored. */
  readonly context: string;
}

export interface CompareOptions {
  /** Of this service, as the client reaches it. */
  readonly baseUrl: string;
  /** Texts, by name, that replace those of contexts of this service for the version before. */
  readonly contextsBefore?: ReadonlyMap<string, string> | undefined;
  /** The same for the version after. */
  readonly contextsAfter?: ReadonlyMap<string, string> | undefined;
}

/** Two versions of a model, with what the terms of their contexts mean now. */
export interface ComparedVersions {
  readonly input: CompareInput;
  /** Why the meaning of the terms is needed and not known. */
  readonly unknown: string | undefined;
}

interface Parts {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly descriptions: ModelDescriptions;
  readonly contextSupply: ContextSupply;
}

type Terms = NonNullable<CompareInput['terms']>['before'];

export const UNCHANGED: ChangeReport = { overall: 'compatible', differences: [] };

/** The most places that a diff lists. */
const MAX_POINTERS = 1000;

/** Compares versions of models: what their schemas accept, and what the terms of their contexts mean. */
export class ModelComparison {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * What has changed from one stored version of a model to another, in either order.
   *
   * @param range `to`: the current version when not given; `from`: the one before it, or the first; `baseUrl`: of this service
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
    return rereading(async () => {
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
   * What later versions of contexts change for a model that follows them, as it is stored.
   *
   * @throws NotFoundError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  byContexts(key: ModelKey, options: CompareOptions): Promise<ChangeReport> {
    return rereading(async () => {
      const current = await this.#stored(await this.#parts.store.models.texts(key));
      return this.between(await this.versions(key.name, current, current, options));
    });
  }

  /**
   * Finds out what the terms of both contexts mean. A context of this service that one of them names by its URL counts as it
   * is now, unless the options say otherwise.
   *
   * @param entityType the model's name
   * @throws WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async versions(
    entityType: string,
    before: ComparedVersion,
    after: ComparedVersion,
    { baseUrl, contextsBefore, contextsAfter }: CompareOptions,
  ): Promise<ComparedVersions> {
    const input = { before: before.bundled, after: after.bundled, entityType };
    const isSame = before.context === after.context;
    if (isSame && contextsBefore === undefined && contextsAfter === undefined)
      return { input, unknown: undefined };
    const [old, fresh] = await Promise.all([
      this.#termsOf(before.context, baseUrl, contextsBefore),
      this.#termsOf(after.context, baseUrl, contextsAfter),
    ]);
    // It could not be processed before either, so nothing has changed.
    if (isSame && typeof old === 'string' && old === fresh) return { input, unknown: undefined };
    if (typeof old === 'object' && typeof fresh === 'object')
      return { input: { ...input, terms: { before: old, after: fresh } }, unknown: undefined };
    return { input, unknown: [old, fresh].find((one) => typeof one === 'string') };
  }

  /**
   * What changes between two versions of a model, with witnesses where looking for them does not take too much. If the comparison
   * takes too much time or depth, the change counts as narrowing.
   *
   * @throws WorkersBusyError, TaskFailedError
   */
  async between({ input, unknown }: ComparedVersions): Promise<ChangeReport> {
    const { before, after, terms } = input;
    const report =
      before === after && terms === undefined
        ? UNCHANGED
        : ((await this.#compared({ ...input, withWitnesses: true })) ??
          (await this.#compared(input)) ??
          TOO_COMPLEX);
    if (unknown === undefined) return report;
    return reportOf([unproven(`what the terms mean cannot be compared: ${unknown}`), ...report.differences]);
  }

  async #stored({ version, context }: ModelTexts): Promise<ComparedVersion> {
    const { bundled } = await this.#parts.descriptions.of(version);
    return { bundled, context };
  }

  /** Undefined where comparing takes too much time, memory or depth. */
  #compared(input: CompareInput): Promise<ChangeReport | undefined> {
    return unlessTooMuch(this.#parts.workers.run('compareSchemas', input), () => undefined);
  }

  /** What the terms of a context mean, or why that is not known. */
  async #termsOf(
    context: string,
    baseUrl: string,
    instead: ReadonlyMap<string, string> | undefined,
  ): Promise<Terms | string> {
    const text = JSON.stringify(withoutCore(context));
    const found = await unlessTooCostly(
      this.#parts.contextSupply.termsOf(text, baseUrl, instead),
      ({ bound }) => ({ failed: `processing a context takes too much ${bound}` }),
    );
    if ('failed' in found) return withBaseUrl(found.failed, baseUrl);
    return comparableTerms({ terms: new Map(found.terms), defaults: found.defaults });
  }
}

/** The same versions the other way round. */
export function exchanged({ input, unknown }: ComparedVersions): ComparedVersions {
  const { before, after, terms } = input;
  const others = terms === undefined ? {} : { terms: { before: terms.after, after: terms.before } };
  return { input: { ...input, before: after, after: before, ...others }, unknown };
}
