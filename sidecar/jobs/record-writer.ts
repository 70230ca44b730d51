import { isFinal, LeaseLostError, type JobClaim, type JobRecord, type Jobs } from '../store/index.js';
import type { Clock } from '../shared/clock.js';

/** Progress is written at most this often, in milliseconds. */
const WRITE_EVERY_MS = 250;

/** How long a purge waits until a record that must outlast this process is written, in milliseconds. */
const WAIT_MS = 1000;

/** The most records that wait for a store that is away. */
const MAX_WAITING = 1000;

export interface RecordWriterOptions {
  readonly store: Pick<Jobs, 'put'>;
  readonly clock: Clock;
  /** Called once when the store begins to fail, with the error. */
  readonly onAway: (error: unknown) => void;
  /** Called when it works again. */
  readonly onBack: () => void;
  /** Called with each record that is given up because too many wait. */
  readonly onLost: (record: JobRecord) => void;
  /** Called with each record that was not written because another process has the purge. */
  readonly onTaken: (record: JobRecord, claim: JobClaim) => void;
}

interface Entry {
  readonly record: JobRecord;
  readonly claim: JobClaim;
}

/** Writes records in the background: a store that is away or slow never stops a purge. */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  /** What is to be written, the latest of each. */
  readonly #waiting = new Map<string, Entry>();
  #writing: Promise<void> | undefined;
  #isAway = false;
  #isClosing = false;
  #sleeping = new AbortController();

  constructor(options: RecordWriterOptions) {
    this.#options = options;
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
    const { store, clock } = this.#options;
    const enough = new AbortController();
    const written = store.put(record, undefined, claim).then(
      () => true,
      () => false,
    );
    const late = clock
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
      this.#options.onLost(lost);
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
      await this.#options.store.put(record, undefined, claim).catch((error: unknown) => {
        if (!(error instanceof LeaseLostError)) this.#options.onLost(record);
      });
    this.#waiting.clear();
  }

  async #writeAll(): Promise<void> {
    const { clock } = this.#options;
    while (this.#waiting.size > 0 && !this.#isClosing) {
      const batch = [...this.#waiting.values()];
      this.#sleeping = new AbortController();
      for (const entry of batch) if (!(await this.#write(entry))) break;
      if (this.#endsNow()) break;
      // What comes meanwhile of the same purges is written together.
      await clock.sleep(WRITE_EVERY_MS, this.#sleeping.signal).catch(() => {});
    }
    this.#writing = undefined;
  }

  /** A method, because the compiler does not see that this changes during an await. */
  #endsNow(): boolean {
    return this.#isClosing;
  }

  async #write(entry: Entry): Promise<boolean> {
    const { store, onAway, onBack, onTaken } = this.#options;
    const { record, claim } = entry;
    try {
      await store.put(record, undefined, claim);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) {
        if (!this.#isAway) onAway(error);
        this.#isAway = true;
        return false;
      }
      onTaken(record, claim);
    }
    if (this.#isAway) onBack();
    this.#isAway = false;
    if (this.#waiting.get(record.id) === entry) this.#waiting.delete(record.id);
    return true;
  }
}
