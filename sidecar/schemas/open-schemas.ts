import { availableParallelism } from 'node:os';
import type { Config } from '../shared/config/load.js';
import { createRemoteDocuments } from './remote/remote-documents.js';
import { SchemaService, type SchemaServiceOptions, Workbench } from './models/index.js';
import type { BrokerNotes, BrokerNotice } from '../store/broker-notes.js';
import type { LockWaits } from '../store/lock-queue.js';
import type { PurgeNotice, PurgeQueue, Purges } from '../store/purge-records.js';
import type { RetentionPolicies } from '../store/retention-records.js';
import { PostgresStore } from '../store/postgres-store.js';
import type { SqlStore } from '../store/sql-store.js';
import { SqliteStore } from '../store/sqlite-store.js';
import type { Clock } from '../shared/clock.js';
import { Transfer } from './repository/transfer.js';
import { entryBeside, WorkerPool } from '../shared/workers/pool.js';
import type { TaskRunner } from '../shared/workers/tasks.js';
import type { Tasks } from './worker.js';

/** The schema service and the workbench, with everything that they run on. */
export interface OpenSchemas {
  readonly service: SchemaService;
  readonly workbench: Workbench;
  readonly transfer: Transfer;
  /** Tasks that wait for a worker, and those that workers are at. */
  workers(): { readonly waiting: number; readonly running: number };
  /** Statements that met the lock of another process, and for how long they waited for it, since the start. */
  lockWaits(): LockWaits;
  /** The record of purges, in the same database. */
  readonly purges: Purges & PurgeQueue;
  /** Reports what other processes do with purges, and what they learn about brokers. */
  listen(onNotice: (notice: PurgeNotice | BrokerNotice) => void): void;
  /** Retention policies, likewise. */
  readonly retention: RetentionPolicies;
  /** What processes have learnt about brokers, likewise. */
  readonly brokerNotes: BrokerNotes;
  /** Ends what runs, and closes the database. */
  close(): Promise<void>;
}

/** Leaves one core to the event loop. At least two, so that work that hangs until its deadline does not block others. */
const THREADS = Math.max(2, Math.min(8, availableParallelism() - 1));

/** Tasks that may wait for a worker; later callers are asked to try again. */
const QUEUE_LENGTH = 1024;

/** What is reported of a database that others share. */
export interface DatabaseObserver {
  /** It cannot be reached. */
  away(error: unknown): void;
  back(): void;
}

/**
 * Opens the database, the schema service on it, and the workbench.
 *
 * @param workers closed with the rest
 * @throws NotADatabaseError, ForeignDatabaseError, NewerDatabaseError, DatabaseUnusableError
 */
export async function openSchemas(
  config: Config,
  clock: Clock,
  observer: DatabaseObserver,
  workers: Workers = new WorkersOnDemand({ deadlineMs: config.WORKBENCH_TIMEOUT_MS, clock }),
): Promise<OpenSchemas> {
  const store = await openStore(config, clock, observer);
  const remote = createRemoteDocuments({ allowedOrigins: config.REMOTE_ALLOWED_ORIGINS ?? [] });
  const contextBase = config.CONTEXT_BASE_IRI;
  const [deadlineMs, limitBytes] = [config.WORKBENCH_TIMEOUT_MS, config.IMPORT_LIMIT_BYTES];
  return {
    ...parts({ store, workers, remote, contextBase, clock, deadlineMs, limitBytes }),
    purges: store.purges,
    listen: (onNotice) => store.listen(onNotice),
    retention: store.retention,
    brokerNotes: store.brokerNotes,
    workers: () => workers.load(),
    lockWaits: () => store.lockWaits,
    close: async () => {
      await Promise.all([remote.close(), workers.close()]);
      await store.close();
    },
  };
}

/** Of one task on files of the person who waits for it. */
const PATIENT_MS = 30_000;

const LARGEST_IMPORT = 512 * 1024 * 1024;

/**
 * A schema service in memory, for the command line: it has nothing, and fetches nothing.
 *
 * @param workers closed with the rest
 */
export async function openSchemasInMemory(
  clock: Clock,
  workers: Workers = new WorkersOnDemand({ deadlineMs: PATIENT_MS, clock }),
): Promise<Pick<OpenSchemas, 'service' | 'workbench' | 'transfer' | 'close'>> {
  const store = await SqliteStore.open(':memory:', clock);
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
  const { schemas, typeModels, contextSupply } = service;
  const workbench = new Workbench({ schemas, typeModels, contextSupply, workers, deadlineMs });
  const transfer = new Transfer({ schemas: service, workbench, workers, clock, deadlineMs, limitBytes });
  return { service, workbench, transfer };
}

function openStore(
  { DATABASE_URL, DATABASE_PATH }: Config,
  clock: Clock,
  observer: DatabaseObserver,
): Promise<SqlStore> {
  if (DATABASE_URL === undefined) return SqliteStore.open(DATABASE_PATH, clock);
  return PostgresStore.open(DATABASE_URL, {
    clock,
    onAway: (error) => observer.away(error),
    onBack: () => observer.back(),
  });
}

/** The worker threads of a gateway. */
export interface Workers extends TaskRunner<Tasks> {
  load(): { readonly waiting: number; readonly running: number };
  close(): Promise<void>;
}

/** Workers that are started when the first task comes: a gateway without schemas does not need them. */
export class WorkersOnDemand implements Workers {
  readonly #options: { readonly deadlineMs: number; readonly clock: Clock };
  #pool: WorkerPool<Tasks> | undefined;

  constructor(options: { readonly deadlineMs: number; readonly clock: Clock }) {
    this.#options = options;
  }

  readonly run: TaskRunner<Tasks>['run'] = (kind, input, options) => {
    this.#pool ??= new WorkerPool<Tasks>({
      entry: entryBeside('worker', import.meta.url),
      threads: THREADS,
      queueLength: QUEUE_LENGTH,
      ...this.#options,
    });
    return this.#pool.run(kind, input, options);
  };

  load(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.#pool?.waiting ?? 0, running: this.#pool?.atWork ?? 0 };
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}
