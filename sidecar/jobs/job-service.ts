import { isFinal, type JobNotice, type OrphanedJob, storedKindOf } from '../store/index.js';
import type { ControlRequest, JobResumeData, JobRecord, TakenJob, UnfinishedJob } from '../store/index.js';
import { outcomeOf, TooManyPurgesError } from '../purge/index.js';
import { checkCrashes, withCrash, isToCancel } from './job-record.js';
import { QueueFullError } from './errors.js';
import { HistoryPruner } from './history.js';
import type { Lease, LiveJob } from './live-job.js';
import { LeaseKeeper } from './lease-keeper.js';
import { RecordKeeper } from './record-keeper.js';
import { JobRegistry, type PlaceKind } from './registry.js';
import type { JobServiceOptions } from './service-options.js';
import type { Clock } from '../shared/clock.js';

/** How the jobs of one kind are run: purges, restores or scans. */
export interface JobRunner {
  readonly runs: ReturnType<typeof storedKindOf>;
  /**
   * Enters a taken job into the registry, to begin or resume it.
   *
   * @throws an error that ends the job, before it is entered
   */
  begin(record: JobRecord, job: JobResumeData, lease: Lease): JobWork;
  /** Enters a taken job into the registry at once, to end it as an earlier process left it. */
  abandon(left: UnfinishedJob, lease: Lease): Promise<LiveJob>;
  /** Returns the new state of a job that is for another broker and that no process runs. Has no side effects. */
  requeued(left: OrphanedJob): UnfinishedJob;
}

export interface JobWork {
  readonly live: LiveJob;
  readonly place: PlaceKind;
  /** Does the work, after the record says that the job has begun, and ends the record. */
  readonly run: () => Promise<void>;
  /** Called before the job goes back into the queue, when nothing is in flight. */
  readonly onStopped?: () => Promise<void>;
}

/** The jobs of this process, of every kind: their queue, leases, records and history. */
export class JobService {
  readonly options: JobServiceOptions;
  readonly registry: JobRegistry;
  readonly records: RecordKeeper;
  readonly leases: LeaseKeeper;
  readonly notifier: Notifier;
  readonly #runners = new Map<JobRunner['runs'], JobRunner>();
  readonly #history: HistoryPruner;
  #queued = 0;

  constructor(options: JobServiceOptions) {
    this.options = options;
    this.notifier = new Notifier(options.clock);
    this.registry = new JobRegistry(options.maxRunning, (id) => {
      this.notifier.notify(id);
      this.leases.pollForMore();
    });
    this.#history = new HistoryPruner(options, (id) => this.records.latest(id) !== undefined);
    this.records = new RecordKeeper(options, this.registry, this.#history, () => void this.leases.poll());
    this.leases = new LeaseKeeper({
      ...options,
      registry: this.registry,
      begin: (taken, lease) => this.#begin(taken, lease),
      requeued: (left): UnfinishedJob =>
        this.#runnerOf(left.record).requeued({ ...left, job: withCrash(left.record, left.job) }),
      onRequeued: (changed) => this.#noteRequeued(changed),
      grant: (id, request) => void this.#grant(id, request),
      isPending: (id) => this.records.unwritten(id) !== undefined,
    });
  }

  /** Registers how one kind of job is run here. */
  serve(runner: JobRunner): void {
    this.#runners.set(runner.runs, runner);
  }

  /**
   * Returns the number of jobs that wait for a place, in all processes; the last known number if the store is
   * unavailable.
   */
  async queued(): Promise<number> {
    this.#queued = await this.options.store.waiting().catch(() => this.#queued);
    return this.#queued;
  }

  /** Resumes jobs that no process runs, and begins to prune the history. */
  start(): void {
    this.#history.start();
    this.leases.start();
  }

  /** Called when something has changed in the store. */
  onNotice({ what, id }: JobNotice): void {
    this.notifier.notify(id);
    if (what === 'waiting' || (what === 'request' && this.registry.get(id) !== undefined))
      void this.leases.poll();
  }

  /**
   * Puts a job into the queue. It runs when a place is free.
   *
   * @throws QueueFullError, PurgeStoppedError, StoreUnavailableError
   */
  async enqueue(record: JobRecord, needs: JobResumeData): Promise<void> {
    const { store, maxQueued, broker } = this.options;
    this.registry.requireOpen();
    if (!(await store.add(record, needs, maxQueued, broker))) throw new QueueFullError(maxQueued);
    await this.leases.poll();
  }

  /** Enters a job into the registry as an instance of its class; it runs here from now on. */
  enter<Record extends JobRecord, Live extends LiveJob<Record>>(
    Live: new (...made: ConstructorParameters<typeof LiveJob<Record>>) => Live,
    record: Record,
    lease: Lease,
  ): Live {
    const onChange = (changed: JobRecord) => {
      // The record of a job that another process has taken is written by that process.
      if (!lease.isTaken || lease.number === 0) this.records.save(changed, lease.claim);
      this.notifier.notify(changed.id);
    };
    return this.registry.enter(new Live(record, lease, this.options.clock, onChange));
  }

  /** Stops all jobs, which go back into the queue, and refuses new ones. */
  stop(): void {
    this.#history.stop();
    this.registry.stop();
  }

  /** Stops the jobs and writes the records that are not yet written. */
  async close(): Promise<void> {
    this.stop();
    await this.records.close();
    this.leases.close();
  }

  #runnerOf(record: JobRecord): JobRunner {
    const runner = this.#runners.get(storedKindOf(record));
    if (runner === undefined) throw new Error(`No ${storedKindOf(record)} can be run here.`);
    return runner;
  }

  /**
   * Begins a job that was taken. Ends it if it was cancelled, if its caller waited at a process that is gone, or if too
   * many processes crashed while they ran it.
   */
  #begin(taken: TakenJob, lease: Lease): void {
    const { record, job } = taken;
    const runner = this.#runnerOf(record);
    const end = async (how: (live: LiveJob) => void) => {
      const live = await runner.abandon(taken, lease);
      how(live);
      this.registry.leave(live);
    };
    try {
      if (job === undefined) void end((live) => this.records.end(live, 'interrupted'));
      else if (isToCancel(taken)) void end((live) => this.records.end(live, 'cancelled'));
      else {
        const counted = withCrash(record, job);
        checkCrashes(record, counted);
        void this.#work(runner.begin(record, counted, lease), counted);
      }
    } catch (error) {
      void end((live) => this.records.endEarly(live, error, 'interrupted'));
    }
  }

  /**
   * Does the work of a taken job, from taking a place to its end. A job that only stops in this process goes back into
   * the queue; one that another process has taken by now is left to that process.
   */
  async #work({ live, place, run, onStopped }: JobWork, job: JobResumeData): Promise<void> {
    const { registry, records } = this;
    const { observer } = this.options;
    try {
      registry.takePlace(live, place);
      live.start(records.now());
      this.notifier.notify(live.record.id);
      // Otherwise, a process that takes over would not know that requests may have been sent.
      await records.writeAhead(live, job);
      observer.started(live.record);
      await run();
    } catch (error) {
      if (isResumable(live, error)) await onStopped?.();
      // By now another process may have taken it, or it was cancelled; otherwise the next process with a free place
      // resumes it.
      if (live.lease.isTaken) observer.takenOver(live.record);
      else if (isResumable(live, error)) live.set({ state: 'queued' });
      else records.endEarly(live, error, 'interrupted');
    } finally {
      registry.leave(live);
    }
  }

  /** Called for jobs of other brokers that went back into the queue, or were cancelled. */
  #noteRequeued(changed: readonly Pick<OrphanedJob, 'record' | 'broker'>[]): void {
    const { observer } = this.options;
    for (const { record } of changed) {
      if (isFinal(record.state)) observer.ended(record);
      this.notifier.notify(record.id);
    }
    const waiting = changed.filter(({ record }) => !isFinal(record.state));
    if (waiting.length > 0) observer.waitingForOtherBroker(waiting);
  }

  /** Does what another process requested for a job. */
  async #grant(id: string, request: ControlRequest): Promise<void> {
    const live = this.registry.get(id);
    if (live === undefined) return;
    live.grant(request);
    if (request.cancel === true) return;
    const { store } = this.options;
    try {
      await store.put(live.record, undefined, live.lease.claim);
      await store.clearRequest({ id, lease: live.lease.number, request });
    } catch {
      // The store still has the request, so it is delivered again.
    }
  }
}

/** Whether a job only stops in this process and can be resumed later. */
function isResumable(live: LiveJob, error: unknown): boolean {
  if (live.isCancelled) return false;
  // A purge whose caller waits may have taken the last place in the meantime.
  if (error instanceof TooManyPurgesError) return true;
  return live.stopped.aborted && outcomeOf(error) === 'stopped';
}

/** The shortest and the longest time before the record of another process's job is read again, in milliseconds. */
const AT_MOST_EVERY_MS = 250;
const AT_LEAST_EVERY_MS = 1000;

/** Wakes the watchers of jobs. */
export class Notifier {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called when a job may have changed. */
  notify(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Resolves when a job may have changed, or the signal aborts. */
  changed(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      const wake = () => {
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(id);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.set(id, waiting.add(wake));
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }

  /** Resolves when it is time to read the record of another process's job again, or the signal aborts. */
  async changedElsewhere(id: string, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const all = AbortSignal.any([signal, stop.signal]);
    const isNotified = this.changed(id, all);
    const sleep = (ms: number) => this.#clock.sleep(ms, all).catch(() => {});
    await sleep(AT_MOST_EVERY_MS);
    await Promise.race([isNotified, sleep(AT_LEAST_EVERY_MS - AT_MOST_EVERY_MS)]);
    stop.abort();
  }
}
