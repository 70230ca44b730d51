import type { InputIssue } from '../../shared/json/pointer.js';
import { TaskTooCostlyError } from '../../shared/workers/errors.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';
import type { CheckedContext } from '../json-ld/check-context.js';
import { unwrapped } from '../json-ld/context-form.js';
import { isBundledContext } from '../json-ld/core-context.js';
import { ContextInvalidError } from '../json-ld/errors.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import { type Supply } from '../json-ld/supplied-contexts.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { documentUri } from '../json-schema/uri.js';
import { AlreadyExistsError, NotFoundError, ReadOnlyContextError } from '../store/errors.js';
import {
  type Context,
  type ContextAt,
  generatedContextName,
  type ModelKey,
  type NewContextVersion,
  type Page,
  type Paged,
} from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { ifThere, requireMatch, retrying, WhileUnwritten } from './concurrency.js';
import { type Contents, rereading } from './contents.js';
import type { ContextLoading, CoreContext } from './context-supply.js';
import { INTERNAL_BASE } from './context-urls.js';
import type { DomainContexts } from './domain-contexts.js';
import { BundledContextError, requireName } from './errors.js';
import type { Lifecycles } from './lifecycles.js';
import type { ContextService } from './service.js';
import type {
  ContextSummary,
  ContextWriteOptions,
  ServedContext,
  WriteOptions,
  WrittenContext,
} from './shapes.js';

interface Parts {
  readonly store: SchemaStore;
  readonly contents: Contents;
  readonly loading: ContextLoading;
  readonly core: ReadonlyMap<string, CoreContext>;
  readonly workers: ContextCheck['workers'];
  readonly domainContexts: DomainContexts;
  readonly lifecycles: Lifecycles;
}

/** Dependents that are listed at a time. */
const PAGE = 100;

export class Contexts implements ContextService {
  readonly #parts: Parts;
  /** Which text is the current one, or that of a version. */
  readonly #known: WhileUnwritten<ContextAt>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#known = new WhileUnwritten(parts.store);
  }

  async list({ limit, offset }: Page): Promise<Paged<ContextSummary>> {
    const { core, store } = this.#parts;
    const first = [...core.values()].map(({ summary }) => summary).slice(offset, offset + limit);
    const stored = await store.contexts.list({
      limit: limit - first.length,
      offset: Math.max(0, offset - core.size),
    });
    return { items: [...first, ...stored.items], total: core.size + stored.total };
  }

  async document(name: string, version?: number, baseUrl: string = INTERNAL_BASE): Promise<ServedContext> {
    const { core, store, contents } = this.#parts;
    const bundled = core.get(name);
    if (bundled !== undefined) {
      if (version === undefined || version === 1) return bundled.served;
      throw new NotFoundError({ kind: 'context', name, version });
    }
    return rereading(async () => {
      const lifecycle = await this.#parts.lifecycles.ofContext(name);
      const at = await ifThere(
        'context',
        this.#known.get(JSON.stringify([name, version]), () => store.contexts.get(name, version)),
      );
      if (at === undefined) return this.#ofDomain(name, version, baseUrl);
      const { context, version: found } = at;
      const served = await contents.servedContext(found.content, baseUrl);
      // A client that wants to change the context says with its ETag which state it saw. Others are as they are served.
      const etag = version === undefined && context.kind === 'custom' ? context.etag : served.etag;
      return { ...served, etag, kind: context.kind, ...(lifecycle === undefined ? {} : { lifecycle }) };
    });
  }

  /** Contexts of domains have no versions. */
  async #ofDomain(name: string, version: number | undefined, baseUrl: string): Promise<ServedContext> {
    const { domainContexts } = this.#parts;
    const found =
      version === undefined ? await ifThere('domain', domainContexts.of(name, baseUrl)) : undefined;
    if (found === undefined)
      throw new NotFoundError({ kind: 'context', name, ...(version === undefined ? {} : { version }) });
    const { warnings, ...served } = found;
    return { ...served, kind: 'domain', warningCount: warnings.length };
  }

  async create(name: string, context: unknown, options: ContextWriteOptions): Promise<WrittenContext> {
    const { core, store } = this.#parts;
    if (core.has(requireName(name))) throw new AlreadyExistsError({ kind: 'context', name });
    return retrying(async () => {
      const accepted = await this.#accept(name, context, options);
      const at = await store.contexts.create(name, await this.#newVersion(accepted, options));
      return { context: at.context, isNewVersion: true, warnings: accepted.warnings };
    });
  }

  async update(
    name: string,
    context: unknown,
    { ifMatch, ...options }: ContextWriteOptions & WriteOptions,
  ): Promise<WrittenContext> {
    const { store } = this.#parts;
    return retrying(async () => {
      const before = await this.#requireCustom(name);
      requireMatch({ kind: 'context', name }, before.etag, ifMatch);
      const accepted = await this.#accept(name, context, options);
      const at = await store.contexts.update(name, await this.#newVersion(accepted, options), ifMatch);
      const isNewVersion = at.version.number !== before.currentVersion;
      return { context: at.context, isNewVersion, warnings: accepted.warnings };
    });
  }

  async followers(name: string): Promise<readonly ModelKey[]> {
    const { contexts } = this.#parts.store;
    const models = new Map<string, ModelKey>();
    const names = new Set([name]);
    // What is added while the loop runs is visited, too.
    for (const one of names)
      for (let offset = 0, total = 1; offset < total; offset += PAGE) {
        const page = await ifThere('context', contexts.dependents(one, { limit: PAGE, offset }));
        total = page?.total ?? 0;
        for (const dependent of page?.items ?? []) {
          if (dependent.kind === 'context') names.add(dependent.name);
          if (dependent.kind !== 'model') continue;
          const generated = generatedContextName(dependent);
          models.set(generated, { domain: dependent.domain, name: dependent.name });
          names.add(generated);
        }
      }
    return [...models.values()];
  }

  async delete(name: string, { ifMatch }: WriteOptions = {}): Promise<void> {
    const { core, store } = this.#parts;
    if (core.has(name)) throw new BundledContextError(name);
    await store.contexts.delete(name, ifMatch);
  }

  async #requireCustom(name: string): Promise<Context> {
    const { core, store } = this.#parts;
    if (core.has(name)) throw new BundledContextError(name);
    const at = await ifThere('context', store.contexts.get(name));
    if (at === undefined && (await ifThere('domain', store.domains.get(name))) !== undefined)
      throw new ReadOnlyContextError(name);
    const { context } = at ?? (await store.contexts.get(name));
    if (context.kind === 'generated') throw new ReadOnlyContextError(name);
    return context;
  }

  #accept(name: string, context: unknown, options: ContextWriteOptions): Promise<AcceptedContext> {
    const { loading, workers } = this.#parts;
    const { baseUrl, pointer = '/@context' } = options;
    const supply = (url: string) => loading.supplyForCheck(url, baseUrl, name);
    return acceptContext(context, { workers, supply, pointer });
  }

  async #newVersion(
    { text, urls }: AcceptedContext,
    { baseUrl }: ContextWriteOptions,
  ): Promise<NewContextVersion> {
    const { core, loading, store } = this.#parts;
    const used = urls.flatMap((url) => loading.ownContext(url, baseUrl)?.name ?? []);
    const others = urls.filter(
      (url) => loading.ownContext(url, baseUrl) === undefined && !isBundledContext(url),
    );
    const references = await store.references.texts(others.flatMap((url) => documentUri(url) ?? []));
    return {
      text,
      contexts: new Set(used.filter((own) => !core.has(own))),
      references: new Map([...references].map(([uri, { sha256 }]) => [uri, sha256])),
    };
  }
}

export interface ContextCheck {
  readonly workers: TaskRunner<Pick<JsonLdTasks, 'checkContext'>>;
  /** Gets the contexts that it names. */
  readonly supply: (url: string) => Promise<Supply>;
  /** Where it stands in the body. */
  readonly pointer: string;
}

/** A custom context that was found valid. */
export interface AcceptedContext extends CheckedContext {
  /** What a GET of it answers. */
  readonly text: string;
}

/**
 * Checks a custom context in a worker; see `parseContext`.
 *
 * @throws ContextInvalidError, WorkersBusyError, TaskFailedError, StoreUnavailableError
 */
async function acceptContext(submitted: unknown, check: ContextCheck): Promise<AcceptedContext> {
  const { workers, supply, pointer } = check;
  const text = JSON.stringify(submitted ?? null);
  const refused = (detail: string, options?: ErrorOptions) => {
    const faults: readonly InputIssue[] = [{ pointer, detail }];
    return new ContextInvalidError(faults, options);
  };
  try {
    const run = runWithContexts(
      (supplied) => workers.run('checkContext', { text, pointer, supplied }),
      supply,
    );
    const outcome = await run;
    if ('refused' in outcome) throw refused(outcome.refused.detail);
    if ('invalid' in outcome) throw new ContextInvalidError(outcome.invalid);
    if (!('checked' in outcome)) throw new Error('A check of a context ended without a result.');
    const { value } = unwrapped(submitted, '');
    return { text: JSON.stringify({ '@context': value }), ...outcome.checked };
  } catch (error) {
    if (!(error instanceof TaskTooCostlyError)) throw error;
    throw refused(`Processing the context takes too much ${error.bound}.`, { cause: error });
  }
}
