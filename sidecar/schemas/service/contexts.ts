import { AlreadyExistsError, NotFoundError, ReadOnlyContextError } from '../store/errors.js';
import type { Context, ContextAt, NewContextVersion, Page, Paged } from '../store/records.js';
import type { SchemaStore } from '../store/store.js';
import { rereading, type Contents } from './contents.js';
import { acceptContext, type AcceptedContext, type ContextCheck } from './context-check.js';
import type { ContextLoading } from './context-loading.js';
import type { CoreContext } from './core-contexts.js';
import { BundledContextError } from './errors.js';
import { requireName } from './names.js';
import { requireMatch } from './preconditions.js';
import { retrying } from './retrying.js';
import { MEDIA_TYPES } from './served.js';
import type { ContextService } from './service.js';
import type {
  ContextSummary,
  ContextWriteOptions,
  ServedContext,
  WriteOptions,
  WrittenContext,
} from './shapes.js';
import { WhileUnwritten } from './while-unwritten.js';

interface Parts {
  readonly store: SchemaStore;
  readonly contents: Contents;
  readonly loading: ContextLoading;
  readonly core: ReadonlyMap<string, CoreContext>;
  readonly workers: ContextCheck['workers'];
}

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

  async document(name: string, version?: number): Promise<ServedContext> {
    const { core, store, contents } = this.#parts;
    const bundled = core.get(name);
    if (bundled !== undefined) {
      if (version === undefined || version === 1) return bundled.served;
      throw new NotFoundError({ kind: 'context', name, version });
    }
    return rereading(async () => {
      const at = await this.#known.get(JSON.stringify([name, version]), () =>
        store.contexts.get(name, version),
      );
      const { context, version: found } = at;
      const served = await contents.served(found.content, MEDIA_TYPES.context);
      // A client that wants to change the context says with its ETag which state it saw.
      const etag = version === undefined ? context.etag : served.etag;
      return { ...served, etag, kind: context.kind };
    });
  }

  async create(name: string, context: unknown, options: ContextWriteOptions): Promise<WrittenContext> {
    const { core, store } = this.#parts;
    if (core.has(requireName(name))) throw new AlreadyExistsError({ kind: 'context', name });
    return retrying(async () => {
      const accepted = await this.#accept(name, context, options);
      const at = await store.contexts.create(name, this.#newVersion(accepted, options));
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
      const at = await store.contexts.update(name, this.#newVersion(accepted, options), ifMatch);
      const isNewVersion = at.version.number !== before.currentVersion;
      return { context: at.context, isNewVersion, warnings: accepted.warnings };
    });
  }

  async delete(name: string, { ifMatch }: WriteOptions = {}): Promise<void> {
    const { core, store } = this.#parts;
    if (core.has(name)) throw new BundledContextError(name);
    await store.contexts.delete(name, ifMatch);
  }

  async #requireCustom(name: string): Promise<Context> {
    const { core, store } = this.#parts;
    if (core.has(name)) throw new BundledContextError(name);
    const { context } = await store.contexts.get(name);
    if (context.kind === 'generated') throw new ReadOnlyContextError(name);
    return context;
  }

  #accept(name: string, context: unknown, options: ContextWriteOptions): Promise<AcceptedContext> {
    const { loading, workers } = this.#parts;
    const { baseUrl, pointer = '/@context' } = options;
    const supply = (url: string) => loading.supplyForCheck(url, baseUrl, name);
    return acceptContext(context, { workers, supply, pointer });
  }

  #newVersion({ text, urls }: AcceptedContext, { baseUrl }: ContextWriteOptions): NewContextVersion {
    const { core, loading } = this.#parts;
    const used = urls.flatMap((url) => loading.ownContext(url, baseUrl)?.name ?? []);
    return {
      text,
      contexts: new Set(used.filter((own) => !core.has(own))),
    };
  }
}
