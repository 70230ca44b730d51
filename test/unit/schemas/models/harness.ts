import { after, type TestContext } from 'node:test';
import {
  RemoteDocumentError,
  type RemoteDocuments,
} from '../../../../sidecar/schemas/remote/remote-documents.js';
import {
  metadataOf,
  type ModelWrite,
  SchemaService,
  type ServedDocument,
} from '../../../../sidecar/schemas/models/index.js';
import type { ServiceWorkers } from '../../../../sidecar/schemas/models/model-tasks.js';
import type { ModelKey, ModelTexts, Page } from '../../../../sidecar/store/records.js';
import { SqliteStore } from '../../../../sidecar/store/sqlite-store.js';
import type { SchemaStore } from '../../../../sidecar/store/sql-store.js';
import { entryBeside, WorkerPool } from '../../../../sidecar/shared/workers/pool.js';
import type { Clock } from '../../../../sidecar/shared/clock.js';
import { shared } from '../../../support/shared-by-files.js';
import { handClock } from '../../../support/store-samples.js';
import type { Tasks } from '../../../../sidecar/schemas/worker.js';

export const BASE_URL = 'http://gateway.example:8000';
export const CONTEXT_BASE = 'https://terms.example/';
export const ALL: Page = { limit: 1000, offset: 0 };

/** A service whose store has only the domain `city`, and the parts behind the service. */
export interface Rig {
  readonly service: SchemaService;
  readonly store: SchemaStore;
  /** The content of other origins, by URL; undefined for documents that cannot be fetched. */
  readonly web: Map<string, unknown>;
  /** URLs that were fetched, in order. */
  readonly fetched: string[];
  /** Kinds of the tasks that workers were given, in order. */
  readonly tasks: string[];
}

export interface RigOptions {
  /** Stands between the service and its store. */
  readonly store?: (store: SchemaStore) => SchemaStore;
  readonly workers?: (workers: ServiceWorkers) => ServiceWorkers;
  readonly cacheBytes?: number;
  /** The system clock by default. */
  readonly clock?: Clock;
}

/** Origin from which documents may be fetched. */
export const ALLOWED = 'https://allowed.example';

const entry = entryBeside('../../../../sidecar/schemas/worker', import.meta.url);
const workers = shared(
  () => new WorkerPool<Tasks>({ entry, threads: 1, queueLength: 100, deadlineMs: 30_000 }),
);

/** Makes rigs that share their workers. To be called in the `describe` of a file. */
export function useRigs(): (t: TestContext, options?: RigOptions) => Promise<Rig> {
  after(() => workers.release());
  return async (t, options = {}) => {
    const pool = workers.get();
    const opened = await SqliteStore.open(':memory:', handClock());
    t.after(() => opened.close());
    const store = options.store?.(opened) ?? opened;
    const [web, fetched, tasks] = [new Map<string, unknown>(), [] as string[], [] as string[]];
    const noted = noting(options.workers?.(pool) ?? pool, tasks);
    const remote = remoteOf(web, fetched);
    const { cacheBytes, clock } = options;
    const service = new SchemaService({
      store,
      workers: noted,
      remote,
      contextBase: CONTEXT_BASE,
      ...(cacheBytes === undefined ? {} : { cacheBytes }),
      ...(clock === undefined ? {} : { clock }),
    });
    await service.domains.create({ name: 'city' });
    return { service, store, web, fetched, tasks };
  };
}

/** A model as writes return it. */
export function storedModel({ store }: SchemaService, key: ModelKey): Promise<ModelTexts> {
  return store.models.texts(key);
}

/** The model that a write made or changed. */
export async function written(writing: Promise<ModelWrite>): Promise<ModelTexts> {
  const { model } = await writing;
  if (model === undefined) throw new Error('The write left no model.');
  return model;
}

/** The number of each version of a model, and what changed with it. */
export async function changesOf({ store }: SchemaService, key: ModelKey) {
  const { items } = await store.models.versions(key, ALL);
  return items.map((version) => [version.number, metadataOf(version).change]);
}

/** The content of a document. */
export function jsonOf({ bytes }: ServedDocument): unknown {
  return JSON.parse(bytes.toString()) as unknown;
}

/** The error with which a promise is rejected, if it is of a class. */
export async function rejection<Refusal extends Error>(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => Refusal,
): Promise<Refusal> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`expected a ${type.name}, but there was none`);
}

function noting(workers: ServiceWorkers, tasks: string[]): ServiceWorkers {
  return {
    run: (kind, input, options) => {
      tasks.push(kind);
      return workers.run(kind, input, options);
    },
  };
}

function remoteOf(web: ReadonlyMap<string, unknown>, fetched: string[]): RemoteDocuments {
  return {
    allows: (url) => url.startsWith(`${ALLOWED}/`),
    fetch: async (url) => {
      fetched.push(url);
      const document = web.get(url);
      if (document === undefined) throw new RemoteDocumentError('status', url, `${url} answers 404.`);
      return { url, text: JSON.stringify(document), document: structuredClone(document) };
    },
    close: async () => undefined,
  };
}
