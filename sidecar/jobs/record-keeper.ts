import { outcomeOf } from '../purge/index.js';
import { isFinal, type JobRecord, type JobState } from '../store/index.js';
import { CallerGoneError } from './errors.js';
import type { HistoryPruner } from './history.js';
import { shortened } from './job-record.js';
import type { Lease } from './lease.js';
import type { LiveJob } from './live-job.js';
import { RecordWriter } from './record-writer.js';
import type { JobRegistry } from './registry.js';
import type { JobServiceOptions } from './service-options.js';

/** Keeps the records of the jobs that run here: while they run, and when they end. */
export class RecordKeeper {
  readonly #options: JobServiceOptions;
  readonly #registry: JobRegistry;
  readonly #history: Pick<HistoryPruner, 'noteRefused'>;
  readonly #writer: RecordWriter;

  constructor(
    options: JobServiceOptions,
    registry: JobRegistry,
    history: Pick<HistoryPruner, 'noteRefused'>,
  ) {
    this.#options = options;
    this.#registry = registry;
    this.#history = history;
    const { store, clock, observer } = options;
    this.#writer = new RecordWriter({
      ...{ store, clock },
      onAway: (error) => observer.storeAway(error),
      onBack: () => observer.storeBack(),
      onLost: (record) => observer.recordLost(record),
      onTaken: ({ id }, { lease }) => {
        const live = registry.get(id);
        if (live?.lease.number === lease) live.lease.take();
      },
    });
  }

  /** What is to be written of a job; undefined when all is written. */
  unwritten(id: string): JobRecord | undefined {
    return this.#writer.latest(id);
  }

  /** The record of a job as far as this process knows more than the store. */
  latest(id: string): JobRecord | undefined {
    return this.#registry.get(id)?.record ?? this.#writer.latest(id);
  }

  /** Writes what is to be written. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  /**
   * From now on, a job runs in this process, and each change of its record is written.
   *
   * @param make the job, given what it calls on every change
   */
  enter<Live extends LiveJob>(lease: Lease, make: (onChange: (record: JobRecord) => void) => Live): Live {
    const live = make((changed) => {
      if (!lease.isTaken || lease.number === 0) this.#writer.save(changed, lease.claim);
    });
    this.#registry.enter(live);
    return live;
  }

  /** Writes the record of a job as it is now, so that it outlasts a crash: waits for the store, but not for long. */
  writeNow({ record, lease }: LiveJob): Promise<void> {
    return this.#writer.writeNow(record, lease.claim);
  }

  /** Writes what was requested of a job. @returns what was written */
  async keep<Live extends LiveJob>(live: Live): Promise<Live['record']> {
    const { record } = live;
    if (!isFinal(record.state)) await this.writeNow(live);
    return record;
  }

  /** @param error what ended it early, or that its caller is gone */
  end(live: LiveJob, state: JobState, error?: unknown): void {
    live.set({ ...live.record, state, endedAt: this.#now() });
    this.#options.observer.ended(live.record, error);
  }

  /** @param stopped what a job is called that was stopped, but not cancelled by request */
  endEarly(live: LiveJob, error: unknown, stopped: JobState): void {
    const state = stateAfter(live, error, stopped);
    const isGone = state === 'cancelled' && !live.isCancelled;
    const cause = isGone
      ? new CallerGoneError('The caller went away before its answer.', { cause: error })
      : error;
    const record = state === 'refused' ? shortened(live.record) : live.record;
    const problem = state === 'cancelled' ? {} : { problem: this.#options.problemOf(error) };
    live.set({ ...record, ...problem, state, endedAt: this.#now() });
    this.#options.observer.ended(live.record, cause);
    if (state === 'refused') this.#history.noteRefused();
  }

  /** Writes the record of a job that was refused, and tells of it. */
  refuse(record: JobRecord, error: unknown): void {
    this.#writer.save(record, { lease: 0 });
    this.#options.observer.ended(record, error);
    this.#history.noteRefused();
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

function stateAfter(live: LiveJob, error: unknown, stopped: JobState): JobState {
  const outcome = live.isCancelled ? 'cancelled' : outcomeOf(error);
  if (outcome === 'stopped') return stopped;
  return outcome === 'refused' && live.hasBegun ? 'failed' : outcome;
}
