import type { Clock } from '../../shared/clock.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import { unlessTooCostly } from '../../shared/workers/too-costly.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import type { ChangeReport } from '../json-schema/differences.js';
import { NotFoundError } from '../../store/errors.js';
import { type Dependent, generatedContextName } from '../../store/records.js';
import type { SchemaStore } from '../../store/store.js';
import { aFewAtATime, ifThere } from './concurrency.js';
import type { ContextSupply } from './context-supply.js';
import { contextUrl, INTERNAL_BASE, withBaseUrl } from './context-urls.js';
import type { ModelComparison } from './model-comparison.js';

/** Contexts and models that are looked at for one change; the rest is counted. */
export const MAX_FOLLOWERS = 100;

/** How long they are looked at, in milliseconds. */
export const MAX_FOLLOWERS_MS = 10_000;

/** Dependents that are listed at a time. */
const PAGE = 100;

/** What follows a context, itself or through other contexts. */
export type Follower = Exclude<Dependent, { readonly kind: 'reference' }>;

/** A follower that could be processed before a change, and cannot be after it. */
export interface BrokenFollower {
  readonly follower: Follower;
  /** As a sentence. */
  readonly reason: string;
}

/** A model for which a context that it follows changes its meaning. */
export interface ChangedFollower {
  readonly domain: string;
  readonly model: string;
  readonly change: ChangeReport;
}

/** What a change of a context means for its followers. */
export interface FollowersEffect {
  readonly broken: readonly BrokenFollower[];
  /** Models that mean something else, by domain and name. */
  readonly changed: readonly ChangedFollower[];
  /** How many were not looked at. */
  readonly uncompared: number;
  /** A text that is another one when followers have come, gone or changed. */
  readonly stamp: string;
}

/** A context of which the text changes. */
export interface ContextChange {
  readonly name: string;
  readonly before: string;
  /** Left out when the store has it. */
  readonly after?: string;
}

interface Parts {
  readonly store: SchemaStore;
  readonly workers: TaskRunner<Pick<JsonLdTasks, 'contextTerms'>>;
  readonly contextSupply: ContextSupply;
  readonly comparison: Pick<ModelComparison, 'byContexts'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface FollowersOptions {
  readonly baseUrl: string;
  /** Ends the work between two followers. */
  readonly signal?: AbortSignal | undefined;
}

type Texts = ReadonlyMap<string, string>;
type ComparedTexts = Parameters<ModelComparison['byContexts']>[1];

/** Finds out what becomes of the contexts and models that follow a context. */
export class ContextFollowers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** All that follows a context, by any of its versions; those that name it themselves come first. */
  async all(name: string, signal?: AbortSignal): Promise<readonly Follower[]> {
    const { contexts } = this.#parts.store;
    const found = new Map<string, Follower>();
    const names = new Set([name]);
    // What is added while the loop runs is visited, too.
    for (const one of names)
      for (let offset = 0, total = 1; offset < total; offset += PAGE) {
        signal?.throwIfAborted();
        const page = await ifThere('context', contexts.dependents(one, { limit: PAGE, offset }));
        total = page?.total ?? 0;
        for (const dependent of page?.items ?? []) {
          if (dependent.kind === 'reference') continue;
          const own = contextNameOf(dependent);
          if (own !== name && !found.has(own)) found.set(own, dependent);
          names.add(own);
        }
      }
    return [...found.values()];
  }

  /**
   * What a change means for the followers, each as it is now.
   *
   * @throws WorkersBusyError, TaskFailedError, StoreUnavailableError, or the reason of the signal
   */
  async effect(
    { name, before, after }: ContextChange,
    { baseUrl, signal }: FollowersOptions,
  ): Promise<FollowersEffect> {
    const { clock } = this.#parts;
    const until = clock.now() + MAX_FOLLOWERS_MS;
    const { followers, stamp } = await this.#stamped(name, signal);
    const texts: ComparedTexts = {
      contextsBefore: new Map([[name, before]]),
      contextsAfter: after === undefined ? undefined : new Map([[name, after]]),
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
        // One that was deleted meanwhile follows nothing any more.
        if (!(error instanceof NotFoundError)) throw error;
      }
      return true;
    };
    const looked = await aFewAtATime(followers.slice(0, MAX_FOLLOWERS), async (follower) => {
      signal?.throwIfAborted();
      if (clock.now() > until) return false;
      return unlessTooCostly(look(follower), () => false);
    });
    const uncompared = followers.length - looked.filter((isCompared) => isCompared).length;
    return {
      broken: broken.toSorted((one, other) =>
        byName(contextNameOf(one.follower), contextNameOf(other.follower)),
      ),
      changed: changed.toSorted((one, other) => byName(titleOf(one), titleOf(other))),
      ...{ uncompared, stamp },
    };
  }

  /** See {@link FollowersEffect}. */
  async stamp(name: string, signal?: AbortSignal): Promise<string> {
    return (await this.#stamped(name, signal)).stamp;
  }

  async #stamped(name: string, signal: AbortSignal | undefined) {
    const { contexts } = this.#parts.store;
    const followers = await this.all(name, signal);
    const etags = await aFewAtATime(followers.slice(0, MAX_FOLLOWERS), async (follower) => {
      const own = contextNameOf(follower);
      return [own, (await ifThere('context', contexts.get(own)))?.context.etag] as const;
    });
    return { followers, stamp: JSON.stringify([etags, followers.slice(MAX_FOLLOWERS).map(contextNameOf)]) };
  }

  /** Why a document that names a context cannot be processed after a change, where it could be before. */
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
    const { workers, contextSupply } = this.#parts;
    const text = JSON.stringify([contextUrl(INTERNAL_BASE, name)]);
    const outcome = await runWithContexts(
      (supplied) => workers.run('contextTerms', { text, supplied }),
      (url) => contextSupply.supply(url, baseUrl, { withoutDomains: true, instead: texts }),
    );
    if ('refused' in outcome) return outcome.refused.detail;
    return 'failed' in outcome ? outcome.failed : undefined;
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
