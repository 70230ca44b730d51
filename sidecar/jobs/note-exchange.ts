import { FACT_MS, COLLECTIONS, readNote, writeNote } from '../purge/broker/index.js';
import type { BrokerNotes } from '../store/index.js';
import { systemClock, type Clock } from '../shared/clock.js';
import type { BrokerMemories } from './configured-kinds.js';

/** Notes are read and written at most this often, in milliseconds. */
const LEAST_PAUSE_MS = 1000;

/** What is learnt in one go is written in one go, in milliseconds. */
const GATHER_MS = 50;

/** A notice may get lost, and the store may have failed: notes are looked at this often, in milliseconds. */
const LOOK_EVERY_MS = 5000;

export interface NoteExchangeOptions {
  readonly store: BrokerNotes;
  /** What all processes call the broker: see `brokerName`. */
  readonly broker: string;
  /** Names this start of this process, and nothing else ever. */
  readonly writer: string;
  readonly memories: BrokerMemories;
  /** Whether other processes use the same store. */
  readonly isShared: boolean;
  /** The clock of the memories. */
  readonly clock: Pick<Clock, 'now'>;
  /** A clock that is never set, by which it is known how long this process has been running. @default that of the process */
  readonly monotonicMs?: () => number;
  /** Has the pauses between looks: real ones by default, whatever clock the purges go by. */
  readonly pauses?: Pick<Clock, 'sleep'>;
  /** Called with the names of facts that were new here: another process has learnt them. */
  readonly onTaken?: (facts: readonly string[]) => void;
}

/**
 * Shares what was learnt about a broker with the other processes, in the background: no purge waits for it, and while the store
 * fails, each process goes by what it has learnt itself.
 *
 * A proof from before the start of this process does not count: when a broker was replaced and the gateways are restarted, every
 * filter is proven again.
 */
export class NoteExchange {
  readonly #options: NoteExchangeOptions;
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;
  readonly #stopped = new AbortController();
  #wake: () => void = () => {};
  #isDue = false;
  #isUnwritten = false;

  constructor(options: NoteExchangeOptions) {
    this.#options = options;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.#startedMs = this.#monotonicMs();
    for (const collection of COLLECTIONS) {
      options.memories[collection].onLearnt = () => {
        this.#isUnwritten = true;
        this.#lookSoon();
      };
    }
  }

  start(): void {
    void this.#lookUntilStopped();
  }

  /** What is not yet written is lost: the next process finds it out again. */
  stop(): void {
    this.#stopped.abort();
    this.#wake();
  }

  /** A process has written a note. */
  noticed(writer: string): void {
    if (writer !== this.#options.writer) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#isDue = true;
    this.#wake();
  }

  async #lookUntilStopped(): Promise<void> {
    const { isShared } = this.#options;
    const { signal } = this.#stopped;
    const pause = (ms: number) => this.#sleep(ms, signal);
    while (!signal.aborted) {
      this.#isDue = false;
      const isDone = await this.#look().catch(() => false);
      await pause(LEAST_PAUSE_MS);
      await this.#untilDue(isShared || !isDone ? LOOK_EVERY_MS : undefined);
      await pause(GATHER_MS);
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await (this.#options.pauses ?? systemClock).sleep(ms, signal).catch(() => {});
  }

  /** @param mostMs after which a look is due in any case */
  async #untilDue(mostMs: number | undefined): Promise<void> {
    const due = new AbortController();
    this.#wake = () => due.abort();
    if (this.#isDue || this.#stopped.signal.aborted) return;
    if (mostMs !== undefined) await this.#sleep(mostMs, due.signal);
    else await new Promise((resolve) => due.signal.addEventListener('abort', resolve, { once: true }));
  }

  /** Takes what others have learnt, and writes down what was learnt here. */
  async #look(): Promise<true> {
    const { store, broker, writer, memories, clock, onTaken } = this.#options;
    const askedMs = clock.now();
    const read = await store.read(broker, FACT_MS);
    const answeredMs = clock.now();
    const offset = { leastMs: read.nowMs - answeredMs, mostMs: read.nowMs - askedMs };
    const startedMs = answeredMs - (this.#monotonicMs() - this.#startedMs);
    const taken: string[] = [];
    for (const note of read.notes) {
      const learnt = note.writer === writer ? undefined : readNote(note.text, offset, answeredMs);
      if (learnt === undefined) continue;
      for (const collection of COLLECTIONS)
        taken.push(...memories[collection].add(learnt[collection], startedMs));
    }
    if (taken.length > 0) onTaken?.(taken);
    if (!this.#isUnwritten) return true;
    this.#isUnwritten = false;
    try {
      const learnt = { entities: memories.entities.facts(), temporal: memories.temporal.facts() };
      await store.write(broker, { writer, text: writeNote(learnt, offset) }, FACT_MS);
    } catch (error) {
      this.#isUnwritten = true;
      throw error;
    }
    return true;
  }
}
