import {
  COLLECTIONS,
  DISTRUSTED,
  type Fact,
  FACT_MS,
  type FactValue,
  isFact,
  type Learnt,
} from '../purge/broker/index.js';
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
  /** The clock of the memories. */
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Has the pauses between looks: real ones by default, whatever clock the purges go by. */
  readonly pauses?: Pick<Clock, 'sleep'>;
  /** Called with the names of facts that were new here: another process has learnt them. */
  readonly onTaken?: (facts: readonly string[]) => void;
}

/**
 * Shares what was learnt about a broker with the other processes on the same store, in the background. No purge waits for it;
 * while the store fails, each process goes by what it has learnt itself.
 *
 * A proof from before the start of this process does not count: when a broker was replaced and the gateways are restarted, every
 * filter is proven again.
 */
export class NoteExchange {
  readonly #options: NoteExchangeOptions;
  readonly #startedMs: number;
  readonly #stopped = new AbortController();
  #wake: () => void = () => {};
  #isDue = false;
  #isUnwritten = false;

  constructor(options: NoteExchangeOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
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
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#isDue = false;
      // After a failure, the next look is due as usual.
      await this.#look().catch(() => {});
      await this.#sleep(LEAST_PAUSE_MS, signal);
      await this.#untilDue();
      await this.#sleep(GATHER_MS, signal);
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await (this.#options.pauses ?? systemClock).sleep(ms, signal).catch(() => {});
  }

  async #untilDue(): Promise<void> {
    const due = new AbortController();
    this.#wake = () => due.abort();
    if (this.#isDue || this.#stopped.signal.aborted) return;
    await this.#sleep(LOOK_EVERY_MS, due.signal);
  }

  /** Takes what others have learnt, and writes down what was learnt here. */
  async #look(): Promise<void> {
    const { store, broker, writer, memories, clock, onTaken } = this.#options;
    const askedMs = clock.now();
    const read = await store.read(broker, FACT_MS);
    const answeredMs = clock.now();
    const offset = { leastMs: read.nowMs - answeredMs, mostMs: read.nowMs - askedMs };
    const startedMs = answeredMs - (clock.monotonicMs() - this.#startedMs);
    const taken: string[] = [];
    for (const note of read.notes) {
      const learnt = note.writer === writer ? undefined : readNote(note.text, offset, answeredMs);
      if (learnt === undefined) continue;
      for (const collection of COLLECTIONS)
        taken.push(...memories[collection].add(learnt[collection], startedMs));
    }
    if (taken.length > 0) onTaken?.(taken);
    if (!this.#isUnwritten) return;
    this.#isUnwritten = false;
    try {
      const learnt = { entities: memories.entities.facts(), temporal: memories.temporal.facts() };
      await store.write(broker, { writer, text: writeNote(learnt, offset) }, FACT_MS);
    } catch (error) {
      this.#isUnwritten = true;
      throw error;
    }
  }
}

/** What the clock of the store is ahead of that of this process, in milliseconds: it lies between the two. */
export interface ClockOffset {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * Raised with each change of what a fact means, or of how a filter is proven: gateways of other versions then believe no proof
 * that was made in another way.
 */
const FORMAT = 2;

/** A longer note is none of ours. */
const MAX_LENGTH = 64 * 1024;

/**
 * A note: what one process has learnt, as JSON, with the times of the facts by the clock of the store, which all processes
 * share. Where the clocks leave it open when something was, a fact counts as older, and a contradiction as newer.
 */
export function writeNote(learnt: Learnt, { leastMs, mostMs }: ClockOffset): string {
  const written = COLLECTIONS.map((collection) => [
    collection,
    Object.fromEntries(
      [...learnt[collection]]
        .filter(([name, { value }]) => isFact(name, value))
        .map(([name, { value, atMs }]) => [
          name,
          [value, name === DISTRUSTED ? Math.ceil(atMs + mostMs) : Math.floor(atMs + leastMs)],
        ]),
    ),
  ]);
  return JSON.stringify({ format: FORMAT, ...(Object.fromEntries(written) as object) });
}

/**
 * Reads a note of another process, by the clock of this one. Facts count as older, and contradictions as newer, as in
 * `writeNote`.
 *
 * @param nowMs by the clock of this process
 * @returns undefined for a text that is not such a note to the last fact, and for a note of another format
 */
export function readNote(text: string, { leastMs, mostMs }: ClockOffset, nowMs: number): Learnt | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const note = parseObject(text);
  if (note?.['format'] !== FORMAT) return undefined;
  const [entities, temporal] = COLLECTIONS.map((collection) => {
    const written = note[collection];
    if (!isObject(written)) return undefined;
    const facts = new Map<string, Fact>();
    for (const [name, pair] of Object.entries(written)) {
      if (!isPair(name, pair)) return undefined;
      const [value, storeMs] = pair;
      const atMs = name === DISTRUSTED ? Math.min(nowMs, storeMs - leastMs) : storeMs - mostMs;
      facts.set(name, { value, atMs });
    }
    return facts;
  });
  return entities === undefined || temporal === undefined ? undefined : { entities, temporal };
}

function isPair(name: string, pair: unknown): pair is readonly [FactValue, number] {
  return Array.isArray(pair) && pair.length === 2 && isFact(name, pair[0]) && Number.isSafeInteger(pair[1]);
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
