import { VERSION } from '../shared/version.js';
import type { Instruments } from './instruments.js';

/** What is looked at whenever the metrics are read. None of it throws. */
export interface StateSources {
  /** Purges at work now, dry runs included. */
  readonly purgesRunning: () => number;
  /** Scans at work now. */
  readonly scansRunning: () => number;
  /** Purges that wait for their turn, at all gateways on the same database. */
  readonly purgesQueued: () => Promise<number>;
  /** Tasks of the worker threads. */
  readonly workers: () => { readonly waiting: number; readonly running: number };
  /** Whether the broker answers. */
  readonly isBrokerUp: () => Promise<boolean>;
  /** Whether the store can be read and written. */
  readonly isStoreUp: () => Promise<boolean>;
  /** Statements that met the lock of another process, and for how long they waited for it, since the start. */
  readonly lockWaits: () => { readonly count: number; readonly ms: number };
}

/** Registers what is true of the moment. */
export function registerStateMetrics(instruments: Instruments, sources: StateSources): void {
  instruments
    .gauge('build_info', 'Always 1; the label has the version of the gateway.', ['version'])
    .set({ version: VERSION }, 1);
  instruments.current('purges_running', 'Purges at work now, dry runs included.', sources.purgesRunning);
  instruments.current('scan_running', 'Scans at work now.', sources.scansRunning);
  instruments.current(
    'purges_queued',
    'Jobs that wait for their turn, at all gateways on the same database: purges and scans.',
    sources.purgesQueued,
  );
  instruments.current(
    'worker_tasks_waiting',
    'Tasks that wait for a worker thread.',
    () => sources.workers().waiting,
  );
  instruments.current(
    'worker_tasks_running',
    'Tasks that worker threads are at.',
    () => sources.workers().running,
  );
  instruments.current(
    'broker_up',
    '1 when the broker answers, else 0; it is asked at most every 15 seconds.',
    async () => ((await sources.isBrokerUp()) ? 1 : 0),
  );
  instruments.current('store_up', '1 when the store can be read and written, else 0.', async () =>
    (await sources.isStoreUp()) ? 1 : 0,
  );
  instruments.sum(
    'store_lock_waits_total',
    'Statements that met the lock of another process on the database and waited for it.',
    () => sources.lockWaits().count,
  );
  instruments.sum(
    'store_lock_wait_seconds_total',
    'How long such statements waited, all together.',
    () => sources.lockWaits().ms / 1000,
  );
}
