import { outcomeOf, PurgeStoppedError } from '../purge/index.js';
import {
  isFinal,
  type JobNeeds,
  type JobRecord,
  type JobState,
  LeaseLostError,
  type JobClaim,
  type Jobs,
  StoreUnavailableError,
} from '../store/index.js';
import { CallerGoneError } from './errors.js';
import type { HistoryPruner } from './history.js';
import { shortened, type Lease, type LiveJob } from './live-job.js';
import type { JobRegistry } from './registry.js';
import type { JobObserver, JobServiceOptions } from './service-options.js';
import type { Clock } from '../shared/clock.js';

/** The pause before a store that is away is asked again, in milliseconds. */
const ASK_AGAIN_MS = 1000;

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
    this.#writer = new RecordWriter(options, ({ id }, { lease }) => {
      const live = registry.get(id);
      if (live?.lease.number === lease) live.lease.take();
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

  /** Writes what a job that runs here has changed, unless another process has it. */
  readonly changed = (record: JobRecord, lease: Lease): void => {
    if (!lease.isTaken || lease.number === 0) this.#writer.save(record, lease.claim);
  };

  /** Writes the record of a job as it is now, so that it outlasts a crash: waits for the store, but not for long. */
  writeNow({ record, lease }: LiveJob): Promise<void> {
    return this.#writer.writeNow(record, lease.claim);
  }

  /** Writes what must be known of a job before it changes anything at the broker. @throws as whenStored() */
  writeAhead(live: LiveJob, job?: JobNeeds): Promise<void> {
    const { store } = this.#options;
    return this.whenStored(live, () => store.put(live.record, job, live.lease.claim));
  }

  /**
   * Writes what a job cannot go on without. While the store is away, the job waits for it as long as its lease lasts.
   *
   * @throws PurgeStoppedError when another process has the job or may have it, or when the job is to stop
   */
  async whenStored(live: LiveJob, write: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const { lease } = live;
    for (;;) {
      void lease.check();
      try {
        await write();
        return;
      } catch (error) {
        if (error instanceof LeaseLostError) lease.take();
        else if (!(error instanceof StoreUnavailableError)) throw error;
        await clock.sleep(ASK_AGAIN_MS, live.stopped).catch((reason: unknown) => {
          throw new PurgeStoppedError('The job stopped while the store was away.', { cause: reason });
        });
      }
    }
  }

  /** Writes what was requested of a job. @returns what was written */
  async keep<Live extends LiveJob>(live: Live): Promise<Live['record']> {
    const { record } = live;
    if (!isFinal(record.state)) await this.writeNow(live);
    return record;
  }

  /** Ends a job that has come to its end. */
  end(live: LiveJob, state: JobState): void {
    live.set({ ...live.record, state, endedAt: this.now() });
    this.#options.observer.ended(live.record);
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
    live.set({ ...record, ...problem, state, endedAt: this.now() });
    this.#options.observer.ended(live.record, cause);
    if (state === 'refused') this.#history.noteRefused();
  }

  /** Writes the record of a job that was refused, and tells of it. */
  refuse(record: JobRecord, error: unknown): void {
    this.#writer.save(record, { lease: 0 });
    this.#options.observer.ended(record, error);
    this.#history.noteRefused();
  }

  /** The time, as in records. */
  now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

function stateAfter(live: LiveJob, error: unknown, stopped: JobState): JobState {
  const outcome = live.isCancelled ? 'cancelled' : outcomeOf(error);
  if (outcome === 'stopped') return stopped;
  return outcome === 'refused' && live.hasBegun ? 'failed' : outcome;
}

/** Progress is written at most this often, in milliseconds. */
const WRITE_EVERY_MS = 250;

/** How long a purge waits until a record that must outlast this process is written, in milliseconds. */
const WAIT_MS = 1000;

/** The most records that wait for a store that is away. */
const MAX_WAITING = 1000;

type RecordObserver = Pick<JobObserver, 'storeAway' | 'storeBack' | 'recordLost'>;

interface RecordWriterOptions {
  readonly store: Pick<Jobs, 'put'>;
  readonly clock: Clock;
  readonly observer: RecordObserver;
}

type OnTaken = (record: JobRecord, claim: JobClaim) => void;

interface Entry {
  readonly record: JobRecord;
  readonly claim: JobClaim;
}

/** Writes records in the background: a store that is away or slow never stops a purge. */
export class RecordWriter {
  readonly #store: Pick<Jobs, 'put'>;
  readonly #clock: Clock;
  readonly #observer: RecordObserver;
  readonly #onTaken: OnTaken;
  /** What is to be written, the latest of each. */
  readonly #waiting = new Map<string, Entry>();
  #writing: Promise<void> | undefined;
  #isAway = false;
  #isClosing = false;
  #sleeping = new AbortController();

  /** @param onTaken called with each record that was not written because another process has the purge */
  constructor({ store, clock, observer }: RecordWriterOptions, onTaken: OnTaken) {
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
    this.#onTaken = onTaken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** What is to be written of a purge; undefined when all is written. */
  latest(id: string): JobRecord | undefined {
    return this.#waiting.get(id)?.record;
  }

  /** Writes a record that must outlast this process, such as the first of a purge: waits for it, but not for long. */
  async writeNow(record: JobRecord, claim: JobClaim): Promise<void> {
    const enough = new AbortController();
    const written = this.#store.put(record, undefined, claim).then(
      () => true,
      () => false,
    );
    const late = this.#clock
      .sleep(WAIT_MS, enough.signal)
      .catch(() => {})
      .then(() => false);
    const isWritten = await Promise.race([written, late]);
    enough.abort();
    if (!isWritten) this.save(record, claim);
  }

  /** Writes a record soon, its last one at once; one of the same purge that still waits is replaced. */
  save(record: JobRecord, claim: JobClaim): void {
    this.#waiting.set(record.id, { record, claim });
    if (this.#waiting.size > MAX_WAITING) {
      // A flood of refused purges displaces none that ran.
      const all = [...this.#waiting.values()].map((each) => each.record);
      const lost = all.find(({ state }) => state === 'refused') ?? all[0] ?? record;
      this.#waiting.delete(lost.id);
      this.#observer.recordLost(lost);
    }
    if (isFinal(record.state)) this.#sleeping.abort();
    this.#writing ??= this.#writeAll();
  }

  /** Writes what waits, and stops; what a store that is away does not take is lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#sleeping.abort();
    await this.#writing;
    for (const { record, claim } of this.#waiting.values())
      await this.#store.put(record, undefined, claim).catch((error: unknown) => {
        if (!(error instanceof LeaseLostError)) this.#observer.recordLost(record);
      });
    this.#waiting.clear();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosing) {
      const batch = [...this.#waiting.values()];
      this.#sleeping = new AbortController();
      for (const entry of batch) if (!(await this.#write(entry))) break;
      // What comes meanwhile of the same purges is written together; close() ends the pause.
      await this.#clock.sleep(WRITE_EVERY_MS, this.#sleeping.signal).catch(() => {});
    }
    this.#writing = undefined;
  }

  async #write(entry: Entry): Promise<boolean> {
    const { record, claim } = entry;
    try {
      await this.#store.put(record, undefined, claim);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) {
        if (!this.#isAway) this.#observer.storeAway(error);
        this.#isAway = true;
        return false;
      }
      this.#onTaken(record, claim);
    }
    if (this.#isAway) this.#observer.storeBack();
    this.#isAway = false;
    if (this.#waiting.get(record.id) === entry) this.#waiting.delete(record.id);
    return true;
  }
}
