import { type Clock, systemClock } from '../../shared/clock.js';
import type { SchemaStore } from '../../store/index.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import { ContentStore, createCache, type ServedDocument } from './content-store.js';
import { ContextFollowers } from './context-followers.js';
import { ContextLoader } from './context-loader.js';
import { Contexts } from './contexts.js';
import { coreContexts } from './core-contexts.js';
import { DomainContexts } from './domain-contexts.js';
import { Domains } from './domains.js';
import { CachedModels, ModelSchemas } from './model-schemas.js';
import { ModelComparison } from './model-comparison.js';
import { ModelDescriptions, ModelExamples } from './model-descriptions.js';
import { ModelDocuments, ModelFiles } from './model-documents.js';
import { ModelWriter } from './model-writer.js';
import { OwnContexts } from './own-context.js';
import { References } from './references.js';
import type { ServiceWorkers } from './model-tasks.js';
import { SchemaChecker } from './schema-checker.js';
import { DryRunStore } from './dry-run-store.js';
import { TypeModels } from './type-models.js';

export interface SchemaServiceOptions {
  readonly store: SchemaStore;
  readonly workers: ServiceWorkers;
  readonly remote: RemoteDocuments;
  /** Base IRI of the terms of models that have none of their own; see `isContextBase`. */
  readonly contextBase: string;
  /** Size of the cache of served documents, in bytes; the data that they are derived from may take as much again. */
  readonly cacheBytes?: number;
  readonly clock?: Clock;
}

const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Domains, models, contexts, and the documents that schemas refer to, on one store. For reads and deletes that need
 * nothing else, callers use the store directly.
 *
 * Every method of the parts can also fail with StoreUnavailableError, and those that check or derive something with
 * WorkersBusyError, TaskFailedError or, if no input is to blame, TaskTooCostlyError. If input is at fault, the error
 * has `errors: {pointer, detail}[]` with JSON pointers (RFC 6901) into the input. Times are milliseconds since the
 * epoch; ETags are without HTTP's quotes.
 */
export class SchemaService {
  readonly store: SchemaStore;
  readonly domains: Domains;
  readonly domainContexts: DomainContexts;
  /** Creates and updates models. */
  readonly models: ModelWriter;
  readonly comparison: ModelComparison;
  readonly documents: ModelDocuments;
  readonly files: ModelFiles;
  readonly schemas: ModelSchemas;
  readonly typeModels: TypeModels;
  readonly cachedModels: CachedModels;
  readonly contexts: Contexts;
  readonly contextLoader: ContextLoader;
  readonly references: References;
  readonly #options: SchemaServiceOptions;

  /** The caller closes store, workers and remote documents. */
  constructor(options: SchemaServiceOptions) {
    const { store, workers, remote, contextBase, cacheBytes = CACHE_BYTES, clock = systemClock } = options;
    this.#options = options;
    this.store = store;
    const cache = createCache<ServedDocument>(cacheBytes, ({ bytes }) => bytes.length);
    const contents = new ContentStore(store, cache);
    const core = coreContexts();
    const contextLoader = new ContextLoader({
      store,
      contents,
      remote,
      workers,
      core,
      clock,
      domainContext: (domain, baseUrl) => this.domainContexts.of(domain, baseUrl),
    });
    const descriptions = new ModelDescriptions(contents, workers, cacheBytes / 2);
    const examples = new ModelExamples(workers, cacheBytes / 2);
    const ownContexts = new OwnContexts({ store, remote, workers, contextLoader, core });
    const schemaChecker = new SchemaChecker({ store, remote, workers, contextBase, ownContexts });
    const comparison = new ModelComparison({ store, workers, descriptions, contextLoader });
    const domainContexts = new DomainContexts({ store, contents, cacheBytes, supply: contextLoader });
    const models = new CachedModels(store);
    const documents = new ModelDocuments({ models, contents, descriptions, examples, workers, cache });
    const followers = new ContextFollowers({ store, contextLoader, clock, comparison });
    this.domains = new Domains(store.domains, core);
    this.domainContexts = domainContexts;
    this.models = new ModelWriter({
      store,
      schemaChecker,
      descriptions,
      comparison,
      clock,
      dryRunStore: store instanceof DryRunStore ? store : undefined,
    });
    this.comparison = comparison;
    this.documents = documents;
    this.files = new ModelFiles(models, documents, contents, store.examples);
    this.schemas = new ModelSchemas(models, descriptions, schemaChecker);
    this.typeModels = new TypeModels(store, this.schemas);
    this.cachedModels = models;
    const shared = { store, contents, contextLoader, core, workers };
    this.contexts = new Contexts({ ...shared, domainContexts, models, followers });
    this.contextLoader = contextLoader;
    this.references = new References(store, contents);
  }

  /**
   * Creates a service for dry runs. The domains, documents and contexts that it writes are visible only to itself.
   * Models are written with `dryRun`; afterwards the service knows the contexts that they would have.
   */
  forDryRun(): SchemaService {
    return new SchemaService({ ...this.#options, store: new DryRunStore(this.store) });
  }
}
