import { type Clock, systemClock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type {
  ContentRef,
  Domain,
  Model,
  ModelAt,
  ModelFilter,
  ModelKey,
  Page,
  Paged,
} from '../../store/records.js';
import { contextNameTaken, PreconditionFailedError } from '../../store/errors.js';
import type { IfMatch, SchemaStore } from '../../store/store.js';
import { requireMatch, retrying, WhileUnwritten } from './concurrency.js';
import { Contents, createCache, MEDIA_TYPES, rereading } from './contents.js';
import {
  ContextLoading,
  type ContextSupply,
  type CoreContext,
  createContextSupply,
  createCoreContexts,
} from './context-supply.js';
import { ContextFollowers } from './context-followers.js';
import { Contexts } from './contexts.js';
import { DomainContexts } from './domain-contexts.js';
import { OvertakenError, requireName } from './errors.js';
import { Lifecycles } from './lifecycles.js';
import { changeByContexts, diffOf } from './model-diff.js';
import { ModelDescriptions, ModelDocuments, ModelExamples } from './model-documents.js';
import { ModelFiles, ModelSchemas } from './model-files.js';
import { ModelSearch } from './model-search.js';
import { ModelWriter, type PutOptions } from './model-writer.js';
import { OwnContexts } from './own-context.js';
import { References } from './references.js';
import { TrialStore } from './trial-store.js';
import { SchemaIntake, type ServiceWorkers } from './schema-intake.js';
import type { DomainService, ModelService, SchemaService } from './service.js';
import {
  detailsOf,
  type DomainChange,
  type Lifecycle,
  type JsonValue,
  type ModelChange,
  type ModelDetails,
  type ModelDiff,
  type ModelDocumentKind,
  type ModelFile,
  type ModelPut,
  type ModelReadOptions,
  type ModelSchema,
  type ModelUpdate,
  type ModelWriteOptions,
  type NewModel,
  type ServedDocument,
  summaryOf,
  type VersionSummary,
  type WriteOptions,
} from './shapes.js';

export interface SchemaServiceOptions {
  readonly store: SchemaStore;
  /** Has the tasks of json-schema/tasks.ts, of json-ld/tasks.ts and of model-tasks.ts. */
  readonly workers: ServiceWorkers;
  readonly remote: RemoteDocuments;
  /** Base IRI of the terms of models without one of their own; see `isContextBase`. */
  readonly contextBase: string;
  /** For documents that are kept at hand, and as much again for what they are made from. */
  readonly cacheBytes?: number;
  readonly clock?: Clock;
  /** The store, where it is one of a trial. */
  readonly trial?: TrialStore;
}

const CACHE_BYTES = 64 * 1024 * 1024;

/** The service on a store. The caller closes store, workers and remote documents. */
export function createSchemaService(options: SchemaServiceOptions): SchemaService {
  const { store, workers, remote, contextBase, cacheBytes = CACHE_BYTES, clock = systemClock } = options;
  const { trial: tried } = options;
  const cache = createCache<ServedDocument>(cacheBytes, ({ bytes }) => bytes.length);
  const contents = new Contents(store, cache);
  const descriptions = new ModelDescriptions(contents, workers, cacheBytes / 2);
  const examples = new ModelExamples(workers, cacheBytes / 2);
  const documents = new ModelDocuments({ contents, descriptions, examples, workers, cache });
  const core = createCoreContexts();
  const loading = new ContextLoading({
    ...{ store, contents, remote, core },
    domainContext: (domain, baseUrl) => domainContexts.of(domain, baseUrl),
  });
  const contextSupply = createContextSupply({ loading, store, remote, clock });
  const domainContexts = new DomainContexts({
    ...{ store, contents, workers, cacheBytes },
    supply: contextSupply,
  });
  const ownContexts = new OwnContexts({ store, remote, workers, loading, core });
  const intake = new SchemaIntake({ store, remote, workers, contextBase, ownContexts });
  const lifecycles = new Lifecycles(store);
  const models = new Models({
    store,
    contents,
    workers,
    descriptions,
    contextSupply,
    documents,
    lifecycles,
    files: new ModelFiles(documents, contents),
    schemas: new ModelSchemas(store, descriptions),
    writer: new ModelWriter({
      ...{ store, workers, intake, descriptions, contextSupply, clock },
      tried: tried && ((key, context, version) => tried.keepGenerated(key, context, version)),
    }),
    search: new ModelSearch(store, descriptions),
  });
  const followers = new ContextFollowers({
    ...{ store, workers, contextSupply, clock },
    changeByContexts: (key, change) => models.changeByContexts(key, change),
  });
  return {
    domains: domainsOf(store, core, domainContexts),
    models,
    contexts: new Contexts({
      store,
      contents,
      loading,
      core,
      workers,
      domainContexts,
      lifecycles,
      followers,
    }),
    contextSupply,
    references: new References(store, contents),
    trial: () => {
      const trial = new TrialStore(store);
      return createSchemaService({ ...options, store: trial, trial });
    },
    isReady: () => store.isReady(),
  };
}

function domainsOf(
  { domains }: SchemaStore,
  core: ReadonlyMap<string, CoreContext>,
  contexts: DomainContexts,
): DomainService {
  return {
    list: (page) => domains.list(page),
    get: (name) => domains.get(name),
    context: (name, baseUrl) => contexts.of(name, baseUrl),
    create: async (domain) => {
      const name = requireName(domain.name);
      if (core.has(name)) throw contextNameTaken(name);
      return domains.create({ ...domain, name });
    },
    update: (name, change, { ifMatch } = {}) => retrying(() => updateDomain(domains, name, change, ifMatch)),
    delete: (name, { cascade = false, ifMatch } = {}) => domains.delete(name, { cascade, ifMatch }),
  };
}

/** Writes only over the state that the new settings were made from; if that has changed, it is to be tried again. */
async function updateDomain(
  domains: SchemaStore['domains'],
  name: string,
  change: DomainChange,
  ifMatch: IfMatch | undefined,
): Promise<Domain> {
  const domain = await domains.get(name);
  requireMatch({ kind: 'domain', name }, domain.etag, ifMatch);
  const { description = domain.description, compatibility = domain.compatibility } = change;
  const settings = { description: description ?? undefined, compatibility: compatibility ?? 'none' };
  try {
    return await domains.update(name, settings, [domain.etag]);
  } catch (error) {
    if (!(error instanceof PreconditionFailedError)) throw error;
    throw new OvertakenError({ cause: error });
  }
}

interface Parts {
  readonly store: SchemaStore;
  readonly contents: Contents;
  readonly workers: ServiceWorkers;
  readonly descriptions: ModelDescriptions;
  readonly contextSupply: ContextSupply;
  readonly documents: ModelDocuments;
  readonly files: ModelFiles;
  readonly schemas: ModelSchemas;
  readonly writer: ModelWriter;
  readonly lifecycles: Lifecycles;
  readonly search: ModelSearch;
}

export class Models implements ModelService {
  readonly #parts: Parts;
  /** Which text is the current one, or that of a version. */
  readonly #refs: WhileUnwritten<ContentRef>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#refs = new WhileUnwritten(parts.store);
  }

  list(domain: string, page: Page): Promise<Paged<Model>> {
    return this.#parts.store.models.list(domain, page);
  }

  get(key: ModelKey, version?: number): Promise<ModelDetails> {
    return this.#reading(key, version, async (at) => {
      const { contents } = this.#parts;
      const { ownContext } = at.model;
      const text = await contents.text(at.version.schema);
      const own = ownContext === undefined ? undefined : await contents.text(ownContext);
      const details = detailsOf(at, parseJson(text) as JsonObject, own);
      return version === undefined ? details : { ...details, description: at.version.description };
    });
  }

  search(filter: ModelFilter, page: Page): Promise<Paged<Model>> {
    return this.#parts.search.search(filter, page);
  }

  ofType(type: string, domain: string | undefined): Promise<readonly Model[]> {
    return this.#parts.search.ofType(type, domain);
  }

  create(domain: string, model: NewModel, options?: ModelWriteOptions): Promise<ModelDetails> {
    return this.#parts.writer.create(domain, model, options);
  }

  dryCreate(domain: string, model: NewModel, options?: ModelWriteOptions): Promise<ModelPut> {
    return this.#parts.writer.dryCreate(domain, model, options);
  }

  put(key: ModelKey, change: ModelChange, options?: PutOptions): Promise<ModelPut> {
    return this.#parts.writer.put(key, change, options);
  }

  update(
    key: ModelKey,
    change: ModelChange,
    options?: WriteOptions & ModelWriteOptions,
  ): Promise<ModelUpdate> {
    return this.#parts.writer.update(key, change, options);
  }

  delete(key: ModelKey, { ifMatch }: WriteOptions = {}): Promise<void> {
    return this.#parts.store.models.delete(key, ifMatch);
  }

  async versions(key: ModelKey, page: Page): Promise<Paged<VersionSummary>> {
    const { items, total } = await this.#parts.store.models.versions(key, page);
    return { items: items.map(summaryOf), total };
  }

  lifecycle(key: ModelKey): Promise<Lifecycle> {
    return this.#parts.lifecycles.of(key);
  }

  diff(key: ModelKey, range: Parameters<ModelService['diff']>[1]): Promise<ModelDiff> {
    return rereading(() => diffOf(key, range, this.#parts));
  }

  changeByContexts(
    key: ModelKey,
    options: Parameters<ModelService['changeByContexts']>[1],
  ): ReturnType<ModelService['changeByContexts']> {
    return rereading(() => changeByContexts(key, options, this.#parts));
  }

  document(key: ModelKey, kind: ModelDocumentKind, options: ModelReadOptions): Promise<ServedDocument> {
    const { store, contents, documents } = this.#parts;
    if (kind !== 'schema' && kind !== 'context')
      return this.#reading(key, options.version, (at) => documents.of(at, kind, options));
    return rereading(async () => {
      const { version } = options;
      const name = JSON.stringify([kind, key.domain, key.name, version]);
      const content = await this.#refs.get(name, () => store.models.contentRef(key, kind, version));
      return kind === 'schema'
        ? contents.served(content, MEDIA_TYPES.schema)
        : contents.servedContext(content, options.baseUrl);
    });
  }

  schemaOf(key: ModelKey, schema: JsonValue): Promise<ModelSchema> {
    return this.#parts.writer.schemaOf(key, schema);
  }

  schema(key: ModelKey, version: number | undefined): Promise<ModelSchema> {
    return this.#parts.schemas.of(key, version);
  }

  files(key: ModelKey, options: ModelReadOptions): Promise<readonly ModelFile[]> {
    return this.#reading(key, options.version, (at) => this.#parts.files.list(at, options));
  }

  file(key: ModelKey, name: string, options: ModelReadOptions): Promise<ServedDocument> {
    return this.#reading(key, options.version, (at) => this.#parts.files.get(at, name, options));
  }

  #reading<Result>(
    key: ModelKey,
    version: number | undefined,
    read: (at: ModelAt) => Promise<Result>,
  ): Promise<Result> {
    return rereading(async () => read(await this.#parts.store.models.get(key, version)));
  }
}
