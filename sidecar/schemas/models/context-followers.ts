import type { Clock } from '../../shared/clock.js';
import { unlessTooCostly } from '../../shared/workers/errors.js';
import type { ChangeReport } from '../json-schema/differences.js';
import { type Dependent, generatedContextName, NotFoundError, type SchemaStore } from '../../store/index.js';
import { allItems, undefinedIfNotFound, mapInBatches } from './concurrency.js';
import type { ContextLoader } from './context-loader.js';
import { contextUrl, INTERNAL_BASE, withBaseUrl } from './content-store.js';
import type { ModelComparison } from './model-comparison.js';

/** Maximum number of followers that are checked for one change; the rest are only counted. */
export const MAX_FOLLOWERS = 100;

/** Maximum time for checking followers, in milliseconds. */
export const MAX_FOLLOWERS_MS = 10_000;

/** A context or model that names a context, directly or through other contexts. */
export type Follower = Exclude<Dependent, { readonly kind: 'reference' }>;

/** A follower that a change breaks: it could be processed before the change, but not after it. */
interface BrokenFollower {
  readonly follower: Follower;
  /** A full sentence. */
  readonly reason: string;
}

/** A model whose meaning changes because of a context that it follows. */
export interface ChangedFollower {
  readonly domain: string;
  readonly model: string;
  readonly change: ChangeReport;
}

/** The effect of a changed context on its followers. */
export interface FollowersEffect {
  readonly broken: readonly BrokenFollower[];
  /** Models whose meaning changes. */
  readonly changed: readonly ChangedFollower[];
  /** Number of followers that were not checked. */
  readonly uncompared: number;
}

/** A context whose text changes. */
export interface ContextChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

interface Parts {
  readonly store: SchemaStore;
  readonly contextLoader: ContextLoader;
  readonly comparison: Pick<ModelComparison, 'byContexts'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** The base URL for the names of contexts, and when to stop. */
export interface FollowersOptions {
  readonly baseUrl: string;
  /** Stops the work before the next follower. */
  readonly signal?: AbortSignal | undefined;
}

type Texts = ReadonlyMap<string, string>;
type ComparedTexts = Parameters<ModelComparison['byContexts']>[1];

/** Determines how a change of a context affects the contexts and models that follow it. */
export class ContextFollowers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns all followers of any version of a context, direct ones first. */
  async all(name: string, signal?: AbortSignal): Promise<readonly Follower[]> {
    const { contexts } = this.#parts.store;
    const found = new Map<string, Follower>();
    const names = new Set([name]);
    // Names added during the loop are visited as well.
    for (const one of names) {
      const dependents = allItems(async (page) => {
        signal?.throwIfAborted();
        return (
          (await undefinedIfNotFound('context', contexts.dependents(one, page))) ?? { items: [], total: 0 }
        );
      });
      for await (const dependent of dependents) {
        if (dependent.kind === 'reference') continue;
        const own = contextNameOf(dependent);
        if (own !== name && !found.has(own)) found.set(own, dependent);
        names.add(own);
      }
    }
    return [...found.values()];
  }

  /**
   * Determines the effect of a change on the followers, each in its current version.
   *
   * @throws WorkersBusyError, TaskFailedError, StoreUnavailableError, or the reason of the signal
   */
  async effect(
    { name, before, after }: ContextChange,
    { baseUrl, signal }: FollowersOptions,
  ): Promise<FollowersEffect> {
    const { clock } = this.#parts;
    const until = clock.monotonicMs() + MAX_FOLLOWERS_MS;
    const followers = await this.all(name, signal);
    const texts: ComparedTexts = {
      contextsBefore: new Map([[name, before]]),
      contextsAfter: new Map([[name, after]]),
      baseUrl,
    };
    const broken: BrokenFollower[] = [];
    const changed: ChangedFollower[] = [];
    const look = async (follower: Follower): Promise<boolean> => {
      try {
        const reason = await this.#failure(contextNameOf(follower), texts);
        if (reason !== undefined) broken.push({ follower, reason });
        else if (follower.kind === 'model') {
          const change = await this.#parts.comparison.byContexts(follower, texts);
          const { domain, name: model } = follower;
          if (change.differences.length > 0) changed.push({ domain, model, change });
        }
      } catch (error) {
        // A follower that was deleted in the meantime is not affected.
        if (!(error instanceof NotFoundError)) throw error;
      }
      return true;
    };
    const looked = await mapInBatches(followers.slice(0, MAX_FOLLOWERS), async (follower) => {
      signal?.throwIfAborted();
      if (clock.monotonicMs() > until) return false;
      return unlessTooCostly(look(follower), () => false);
    });
    const uncompared = followers.length - looked.filter((isCompared) => isCompared).length;
    return {
      broken: broken.toSorted((one, other) =>
        byName(contextNameOf(one.follower), contextNameOf(other.follower)),
      ),
      changed: changed.toSorted((one, other) => byName(titleOf(one), titleOf(other))),
      uncompared,
    };
  }

  /** Returns why a change breaks a document that names a context; undefined if it does not. */
  async #failure(
    name: string,
    { contextsBefore, contextsAfter, baseUrl }: ComparedTexts,
  ): Promise<string | undefined> {
    const after = await this.#failureWith(name, contextsAfter, baseUrl);
    if (after === undefined) return undefined;
    const before = await this.#failureWith(name, contextsBefore, baseUrl);
    return before === undefined ? withBaseUrl(after, baseUrl) : undefined;
  }

  async #failureWith(name: string, texts: Texts | undefined, baseUrl: string): Promise<string | undefined> {
    const text = JSON.stringify([contextUrl(INTERNAL_BASE, name)]);
    const found = await this.#parts.contextLoader.termsOf(text, baseUrl, { replacements: texts });
    return 'failed' in found ? found.failed : undefined;
  }
}

function contextNameOf(follower: Follower): string {
  return follower.kind === 'model' ? generatedContextName(follower) : follower.name;
}

function titleOf({ domain, model }: ChangedFollower): string {
  return `${domain}/${model}`;
}

function byName(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
