import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { CheckedContext } from '../json-ld/check-context.js';
import { unwrapped } from '../json-ld/context-form.js';
import type { ContextWarning } from '../json-ld/context-warnings.js';
import { isBundledContext } from '../json-ld/core-context.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { documentUri } from '../json-schema/uri.js';
import {
  AlreadyExistsError,
  type Context,
  type ContextAt,
  type DomainContextName,
  type IfMatch,
  type ModelKey,
  type NewContextVersion,
  NotFoundError,
  type Page,
  type Paged,
  ReadOnlyContextError,
  requireMatch,
  type SchemaStore,
} from '../../store/index.js';
import {
  undefinedIfNotFound,
  writeIfUnchanged,
  retryOnConflict,
  ReadCache,
  WriteQueue,
} from './concurrency.js';
import {
  type ContentStore,
  INTERNAL_BASE,
  retryIfContentGone,
  type ServedDocument,
} from './content-store.js';
import type { ChangedFollower, ContextFollowers, FollowersEffect } from './context-followers.js';
import type { ContextLoader } from './context-loader.js';
import type { CoreContext, CoreContextSummary } from './core-contexts.js';
import type { DomainContexts } from './domain-contexts.js';
import { BrokenFollowersError, requireName, requireValidContext } from './errors.js';
import type { CachedModels, Lifecycle } from './model-schemas.js';

/** How the client reaches this service, and where in the body the context is. */
export interface ContextWriteOptions {
  /**
   * The URL under which the client reaches this service, without a trailing slash. URLs below it belong to the service.
   */
  readonly baseUrl: string;
  /** The place of the context in the body, for pointers; `/@context` by default. */
  readonly pointer?: string | undefined;
}

/** The preconditions of an update, and which effects are checked before it. */
export interface ContextUpdateOptions extends ContextWriteOptions {
  /** ETags, one of which the context must have. */
  readonly ifMatch?: IfMatch | undefined;
  /** Whether to check everything, with the same refusals, but write nothing. */
  readonly dryRun?: boolean | undefined;
  /** Whether to refuse a change that would break a follower, and to report the models whose meaning changes. */
  readonly looksAtFollowers?: boolean | undefined;
  /** Stops the check of followers; nothing is written then. */
  readonly signal?: AbortSignal | undefined;
}

/** A context of any kind, in a list. Contexts of domains have no versions. */
export type ContextSummary = Context | DomainContextName | CoreContextSummary;

export interface ServedContext extends ServedDocument {
  readonly kind: ContextSummary['kind'];
  /** The lifecycle of the model from which the context is generated. */
  readonly lifecycle?: Lifecycle | undefined;
  /** Number of warnings, for the context of a domain. */
  readonly warningCount?: number;
}

/** A warning that the effect of a change on followers of the context is unknown. */
interface FollowerWarning {
  readonly code: 'followers-not-compared';
  /** The pointer to the context. */
  readonly pointer: string;
  readonly detail: string;
}

export interface WrittenContext {
  /** The current state; after a dry run, the unchanged state. */
  readonly context: Context;
  /** False for an update that changed nothing, or would change nothing. */
  readonly isNewVersion: boolean;
  readonly warnings: readonly (ContextWarning | FollowerWarning)[];
  /** Non-empty only for an update that checked followers. */
  readonly followers: readonly ChangedFollower[];
}

interface Parts {
  readonly store: SchemaStore;
  readonly contents: ContentStore;
  readonly contextLoader: ContextLoader;
  readonly core: ReadonlyMap<string, CoreContext>;
  readonly workers: TaskRunner<Pick<JsonLdTasks, 'checkContext'>>;
  readonly domainContexts: DomainContexts;
  readonly models: CachedModels;
  readonly followers: ContextFollowers;
}

const BUNDLED = 'is part of the gateway and cannot be changed';

/** JSON-LD contexts of all kinds: writes custom contexts, and serves all of them. */
export class Contexts {
  readonly #parts: Parts;
  readonly #queue = new WriteQueue();
  /** The current version of each context, and other versions that were requested. */
  readonly #known: ReadCache<ContextAt>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#known = new ReadCache(parts.store);
  }

  /** Lists contexts, core contexts first. */
  async list({ limit, offset }: Page): Promise<Paged<ContextSummary>> {
    const { core, store } = this.#parts;
    const first = [...core.values()].map(({ summary }) => summary).slice(offset, offset + limit);
    const stored = await store.contexts.list({
      limit: limit - first.length,
      offset: Math.max(0, offset - core.size),
    });
    return { items: [...first, ...stored.items], total: core.size + stored.total };
  }

  /**
   * Returns the document at the URL of a context. The context of a domain has the domain's name.
   *
   * @param version the current version by default; the document of a given version never changes
   * @param baseUrl as the client reaches this service, for the URLs of other contexts in it
   * @throws NotFoundError
   */
  async document(name: string, version?: number, baseUrl: string = INTERNAL_BASE): Promise<ServedContext> {
    const { core, store, contents } = this.#parts;
    const bundled = core.get(name);
    if (bundled !== undefined) {
      if (version === undefined || version === 1) return bundled.served;
      throw new NotFoundError({ kind: 'context', name, version });
    }
    return retryIfContentGone(async () => {
      const lifecycle = await this.#parts.models.ofContext(name);
      const at = await undefinedIfNotFound(
        'context',
        this.#known.get(JSON.stringify([name, version]), () => store.contexts.get(name, version)),
      );
      if (at === undefined) return this.#ofDomain(name, version, baseUrl);
      const { context, version: found } = at;
      const served = await contents.servedContext(found.content, baseUrl);
      // The ETag of a custom context identifies its state, so that writes can refer to it. The ETags of others identify
      // their bytes.
      const etag = version === undefined && context.kind === 'custom' ? context.etag : served.etag;
      return { ...served, etag, kind: context.kind, ...(lifecycle === undefined ? {} : { lifecycle }) };
    });
  }

  /** Returns the context of a domain, which has no versions. */
  async #ofDomain(name: string, version: number | undefined, baseUrl: string): Promise<ServedContext> {
    const { domainContexts } = this.#parts;
    const found =
      version === undefined
        ? await undefinedIfNotFound('domain', domainContexts.of(name, baseUrl))
        : undefined;
    if (found === undefined)
      throw new NotFoundError({ kind: 'context', name, ...(version === undefined ? {} : { version }) });
    const { warnings, ...served } = found;
    return { ...served, kind: 'domain', warningCount: warnings.length };
  }

  /**
   * Creates a custom context: a map of terms, an array of maps and URLs, a URL, or `{"@context": one of these}`.
   * Contexts of this service that it names by URL cannot be deleted while it exists.
   *
   * @throws InvalidBodyError, AlreadyExistsError, ContextInvalidError, ConcurrentUpdateError
   */
  async create(name: string, context: unknown, options: ContextWriteOptions): Promise<WrittenContext> {
    const { core, store } = this.#parts;
    if (core.has(requireName(name))) throw new AlreadyExistsError({ kind: 'context', name });
    return retryOnConflict(async () => {
      const accepted = await this.#accept(name, context, options);
      const at = await store.contexts.create(name, await this.#newVersion(accepted, options));
      return { context: at.context, isNewVersion: true, warnings: accepted.warnings, followers: [] };
    });
  }

  /**
   * Creates a new version of a custom context, unless nothing changes. Followers are checked before the version is
   * written; those that are added in the meantime are not.
   *
   * @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, ContextInvalidError, ConcurrentUpdateError,
   * BrokenFollowersError, or the reason of the signal
   */
  async update(
    name: string,
    context: unknown,
    { ifMatch, dryRun = false, looksAtFollowers = false, signal, ...options }: ContextUpdateOptions,
  ): Promise<WrittenContext> {
    const { store } = this.#parts;
    return this.#queue.run(name, async () => {
      signal?.throwIfAborted();
      const before = await this.#requireCustom(name);
      requireMatch({ kind: 'context', name }, before.context.etag, ifMatch);
      const accepted = await this.#accept(name, context, options);
      const old = await this.#parts.contents.text(before.version.content);
      const isNewVersion = old !== accepted.text;
      const known = { context: before.context, isNewVersion, warnings: accepted.warnings, followers: [] };
      const change = { name, before: old, after: accepted.text };
      const looking = { ...options, signal };
      const effect = isNewVersion && looksAtFollowers ? await this.#effectBefore(change, looking) : undefined;
      if (dryRun) return { ...known, ...this.#reported(effect, accepted, looking) };
      signal?.throwIfAborted();
      const version = await this.#newVersion(accepted, options);
      const { context: written } = await writeIfUnchanged(() =>
        store.contexts.update(name, version, [before.context.etag]),
      );
      return { ...known, context: written, ...this.#reported(effect, accepted, looking) };
    });
  }

  /** Returns the models that may follow a context, directly or through other contexts. */
  async followers(name: string): Promise<readonly ModelKey[]> {
    const all = await this.#parts.followers.all(name);
    return all.flatMap((one) => (one.kind === 'model' ? [{ domain: one.domain, name: one.name }] : []));
  }

  /** @throws BrokenFollowersError */
  async #effectBefore(
    change: Parameters<ContextFollowers['effect']>[0],
    options: Parameters<ContextFollowers['effect']>[1],
  ): Promise<FollowersEffect> {
    const effect = await this.#parts.followers.effect(change, options);
    const [first] = effect.broken;
    if (first === undefined) return effect;
    const dependents = effect.broken.map(({ follower }) => follower);
    throw new BrokenFollowersError(change.name, dependents, first.reason);
  }

  #reported(
    effect: FollowersEffect | undefined,
    { warnings }: AcceptedContext,
    { pointer = '/@context' }: ContextWriteOptions,
  ): Pick<WrittenContext, 'warnings' | 'followers'> {
    if (effect === undefined) return { warnings, followers: [] };
    const { uncompared, changed } = effect;
    return {
      warnings: uncompared === 0 ? warnings : [...warnings, notCompared(uncompared, pointer)],
      followers: changed,
    };
  }

  /** @throws NotFoundError, PreconditionFailedError, ReadOnlyContextError, InUseError */
  async delete(name: string, ifMatch?: IfMatch): Promise<void> {
    const { core, store } = this.#parts;
    if (core.has(name)) throw new ReadOnlyContextError(name, BUNDLED);
    await store.contexts.delete(name, ifMatch);
  }

  async #requireCustom(name: string): Promise<ContextAt> {
    const { core, store } = this.#parts;
    if (core.has(name)) throw new ReadOnlyContextError(name, BUNDLED);
    const at = await undefinedIfNotFound('context', store.contexts.get(name));
    if (at === undefined && (await undefinedIfNotFound('domain', store.domains.get(name))) !== undefined)
      throw new ReadOnlyContextError(name);
    const found = at ?? (await store.contexts.get(name));
    if (found.context.kind === 'generated') throw new ReadOnlyContextError(name);
    return found;
  }

  /**
   * Checks a custom context in a worker; see `checkContext`.
   *
   * @throws ContextInvalidError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async #accept(
    name: string,
    submitted: unknown,
    { baseUrl, pointer = '/@context' }: ContextWriteOptions,
  ): Promise<AcceptedContext> {
    const { contextLoader, workers } = this.#parts;
    const text = JSON.stringify(submitted ?? null);
    const { checked } = await requireValidContext(
      runWithContexts(
        (supplied, time) => workers.run('checkContext', { text, pointer, supplied }, { time }),
        (url) => contextLoader.loadForCheck(url, baseUrl, name),
      ),
      pointer,
    );
    const { value } = unwrapped(submitted, '');
    return { text: JSON.stringify({ '@context': value }), ...checked };
  }

  async #newVersion(
    { text, urls }: AcceptedContext,
    { baseUrl }: ContextWriteOptions,
  ): Promise<NewContextVersion> {
    const { core, contextLoader, store } = this.#parts;
    const used = urls.flatMap((url) => contextLoader.ownContext(url, baseUrl)?.name ?? []);
    const others = urls.filter(
      (url) => contextLoader.ownContext(url, baseUrl) === undefined && !isBundledContext(url),
    );
    const references = await store.references.texts(others.flatMap((url) => documentUri(url) ?? []));
    return {
      text,
      contexts: new Set(used.filter((own) => !core.has(own))),
      references: new Map([...references.values()].map(({ uri, sha256 }) => [uri, sha256])),
    };
  }
}

function notCompared(count: number, pointer: string): FollowerWarning {
  const who = count === 1 ? '1 follower of the context was' : `${count} followers of the context were`;
  const detail = `${who} not checked: what the change means for them is not known.`;
  return { code: 'followers-not-compared', pointer, detail };
}

/** A custom context that was found valid. */
interface AcceptedContext extends CheckedContext {
  /** The document at its URL. */
  readonly text: string;
}
