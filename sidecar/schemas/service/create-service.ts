import type { RemoteDocuments } from '../remote/remote-documents.js';
import type { SchemaStore } from '../store/store.js';
import { systemClock, type Clock } from '../../shared/clock.js';
import { BoundedCache } from './bounded-cache.js';
import { Contents } from './contents.js';
import { ContextLoading } from './context-loading.js';
import { createContextSupply } from './context-supply.js';
import { Contexts } from './contexts.js';
import { createCoreContexts } from './core-contexts.js';
import { ModelDescriptions } from './model-descriptions.js';
import { ModelDocuments } from './model-documents.js';
import { ModelExamples } from './model-examples.js';
import { ModelFiles } from './model-files.js';
import { ModelSchemas } from './model-schemas.js';
import { ModelWriter } from './model-writer.js';
import { Models } from './models.js';
import { requireName } from './names.js';
import { References } from './references.js';
import { SchemaIntake, type ServiceWorkers } from './schema-intake.js';
import type { DomainService, SchemaService } from './service.js';
import type { ServedDocument } from './shapes.js';

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
}

const CACHE_BYTES = 64 * 1024 * 1024;

/** The service on a store. Closing store, workers and remote documents is left to whoever opened them. */
export function createSchemaService(options: SchemaServiceOptions): SchemaService {
  const { store, workers, remote, contextBase, cacheBytes = CACHE_BYTES, clock = systemClock } = options;
  const cache = new BoundedCache<ServedDocument>(cacheBytes, ({ bytes }) => bytes.length);
  const contents = new Contents(store, cache);
  const descriptions = new ModelDescriptions(contents, workers, cacheBytes / 2);
  const examples = new ModelExamples(workers, cacheBytes / 2);
  const documents = new ModelDocuments({ contents, descriptions, examples, workers, cache });
  const intake = new SchemaIntake({ store, remote, workers, contextBase });
  const core = createCoreContexts();
  const loading = new ContextLoading({ store, contents, remote, core });
  return {
    domains: domainsOf(store),
    models: new Models({
      store,
      contents,
      documents,
      files: new ModelFiles(documents, contents),
      schemas: new ModelSchemas(store, descriptions),
      writer: new ModelWriter({ store, workers, intake, descriptions }),
    }),
    contexts: new Contexts({ store, contents, loading, core, workers }),
    contextSupply: createContextSupply({ loading, store, remote, clock }),
    references: new References(store, contents),
    isReady: () => store.isReady(),
  };
}

function domainsOf({ domains }: SchemaStore): DomainService {
  return {
    list: (page) => domains.list(page),
    get: (name) => domains.get(name),
    create: async (domain) => domains.create({ ...domain, name: requireName(domain.name) }),
    delete: (name, { cascade = false, ifMatch } = {}) => domains.delete(name, { cascade, ifMatch }),
  };
}
