import { availableParallelism } from 'node:os';
import type { Config } from '../shared/config/load.js';
import { createRemoteDocuments } from './remote/remote-documents.js';
import { EntityJudge, SchemaService, type SchemaServiceOptions, Workbench } from './models/index.js';
import { openStore } from '../store/databases.js';
import type { SchemaStore } from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import { MEMORY_BYTES } from '../shared/memory.js';
import { Transfer } from './repository/transfer.js';
import { entryBeside, WorkerPool } from '../shared/workers/pool.js';
import { HEAP } from '../shared/workers/limits.js';
import type { TaskRunner } from '../shared/workers/tasks.js';
import type { Tasks } from './worker.js';

/** The schema service and the workbench, with everything that they use. */
export interface OpenSchemas {
  readonly service: SchemaService;
  readonly workbench: Workbench;
  readonly judge: EntityJudge;
  readonly transfer: Transfer;
  /** Runs tasks for other parts of the gateway in the same workers. */
  readonly tasks: TaskRunner<Tasks>;
  /** Returns the number of waiting and of running tasks. */
  workers(): { readonly waiting: number; readonly running: number };
  /** Ends running work; the store stays open. */
  close(): Promise<void>;
}

/**
 * Returns the number of worker threads. One core is left for the event loop, and half of the memory for all but the heaps
 * of the workers. There are at least two workers, so that a task that hangs until its deadline does not block others.
 *
 * @param memoryBytes the memory of the machine, or the limit of the container if that is lower
 */
export function workerThreads(cores: number, memoryBytes: number): number {
  const thatFit = Math.floor(memoryBytes / 2 / (HEAP.usedMb * 2 ** 20));
  return Math.max(2, Math.min(8, cores - 1, thatFit));
}

/** Maximum number of tasks that wait for a worker; later callers are asked to try again. */
const QUEUE_LENGTH = 1024;

/** Opens the schema service on a store, and the workbench. @param workers closed together with the service */
export function openSchemas(
  config: Config,
  store: SchemaStore,
  clock: Clock,
  workers: Workers = createWorkers({ deadlineMs: config.WORKBENCH_TIMEOUT_MS, clock }),
): OpenSchemas {
  const remote = createRemoteDocuments({ allowedOrigins: config.REMOTE_ALLOWED_ORIGINS ?? [] });
  const contextBase = config.CONTEXT_BASE_IRI;
  const [deadlineMs, limitBytes] = [config.WORKBENCH_TIMEOUT_MS, config.IMPORT_LIMIT_BYTES];
  return {
    ...parts({ store, workers, remote, contextBase, clock, deadlineMs, limitBytes }),
    tasks: workers,
    workers: () => workers.load(),
    close: async () => {
      await Promise.all([remote.close(), workers.close()]);
    },
  };
}

/** Deadline of one task on the user's own files, in milliseconds; the user waits for the result. */
const PATIENT_MS = 30_000;

const LARGEST_IMPORT = 512 * 1024 * 1024;

/**
 * Opens an empty schema service in memory, for the command line. It does not fetch anything.
 *
 * @param workers closed together with the service
 */
export async function openSchemasInMemory(
  clock: Clock,
  workers: Workers = createWorkers({ deadlineMs: PATIENT_MS, clock }),
): Promise<Omit<OpenSchemas, 'workers' | 'tasks'>> {
  const store = await openStore({ DATABASE_PATH: ':memory:' }, { clock });
  const deadlineMs = PATIENT_MS;
  const remote = createRemoteDocuments({ allowedOrigins: [] });
  const contextBase = 'https://uri.etsi.org/ngsi-ld/default-context/';
  const limitBytes = LARGEST_IMPORT;
  return {
    ...parts({ store, workers, remote, contextBase, clock, deadlineMs, limitBytes }),
    close: async () => {
      await Promise.all([remote.close(), workers.close()]);
      await store.close();
    },
  };
}

interface PartsOptions extends SchemaServiceOptions {
  readonly workers: Workers;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly limitBytes: number;
}

function parts({ deadlineMs, limitBytes, ...options }: PartsOptions) {
  const { workers, clock } = options;
  const service = new SchemaService(options);
  const { schemas, typeModels, contextLoader } = service;
  const workbench = new Workbench({ schemas, typeModels, contextLoader: contextLoader, workers, deadlineMs });
  const transfer = new Transfer({ schemas: service, workbench, workers, clock, deadlineMs, limitBytes });
  const { store } = options;
  const judge = new EntityJudge({ store, schemas, typeModels, workers, clock, deadlineMs });
  return { service, workbench, transfer, judge };
}

/** The worker threads of a gateway. */
export interface Workers extends TaskRunner<Tasks> {
  load(): { readonly waiting: number; readonly running: number };
  close(): Promise<void>;
}

/**
 * Creates worker threads. The first one is only started for the first task, because a gateway without schemas needs
 * none.
 */
export function createWorkers(options: { readonly deadlineMs: number; readonly clock: Clock }): Workers {
  const entry = entryBeside('worker', import.meta.url);
  const threads = workerThreads(availableParallelism(), MEMORY_BYTES);
  return new WorkerPool<Tasks>({ entry, threads, queueLength: QUEUE_LENGTH, ...options });
}
