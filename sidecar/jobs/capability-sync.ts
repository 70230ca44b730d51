import {
  COLLECTIONS,
  DISTRUSTED,
  type Fact,
  FACT_TTL_MS,
  type FactValue,
  isFact,
  type FactsByCollection,
} from '../purge/broker/index.js';
import type { BrokerNotes } from '../store/index.js';
import { systemClock, type Clock } from '../shared/clock.js';
import type { CapabilitiesByCollection } from './configured-kinds.js';

/** Notes are read and written at most this often, in milliseconds. */
const MIN_INTERVAL_MS = 1000;

/** How long to collect facts before writing them together, in milliseconds. */
const BATCH_DELAY_MS = 50;

/** Notes are read at least this often, in milliseconds, since a notice may get lost and the store may have failed. */
const POLL_INTERVAL_MS = 5000;

export interface CapabilitySyncOptions {
  readonly store: BrokerNotes;
  /** The name that all processes use for the broker; see `brokerName`. */
  readonly broker: string;
  /** Unique name of this process, new at each start. */
  readonly writer: string;
  readonly capabilities: CapabilitiesByCollection;
  /** The clock of the capabilities. */
  readonly clock: Pick<Clock, 'now'>;
  /** Used for the pauses between looks. Real time by default, whatever clock the purges use. */
  readonly pauses?: Pick<Clock, 'sleep'>;
  /** Called with the names of facts that were new here because another process learnt them. */
  readonly onReceived?: (facts: readonly string[]) => void;
}

/**
 * Shares what was learnt about a broker with the other processes on the same store, in the background. Purges do not
 * wait for it; while the store fails, each process relies on what it has learnt itself.
 *
 * Proofs from before the start of this process do not count: when a broker was replaced and the gateways are restarted,
 * every filter is proven again.
 */
export class CapabilitySync {
  readonly #options: CapabilitySyncOptions;
  /** When this process looked first, by the clock of the store. */
  #sinceStoreMs: number | undefined;
  readonly #stopped = new AbortController();
  #wake: () => void = () => {};
  #isDue = false;
  #isUnwritten = false;

  constructor(options: CapabilitySyncOptions) {
    this.#options = options;
    for (const collection of COLLECTIONS) {
      options.capabilities[collection].onChange = () => {
        this.#isUnwritten = true;
        this.#syncSoon();
      };
    }
  }

  start(): void {
    void this.#run();
  }

  /** Stops the exchange. Unwritten facts are lost; the next process learns them again. */
  stop(): void {
    this.#stopped.abort();
    this.#wake();
  }

  /** Called when a process has written a note. */
  onNotice(writer: string): void {
    if (writer !== this.#options.writer) this.#syncSoon();
  }

  #syncSoon(): void {
    this.#isDue = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#isDue = false;
      // After a failure, the next look happens at its usual time.
      await this.#sync().catch(() => {});
      await this.#sleep(MIN_INTERVAL_MS, signal);
      await this.#untilDue();
      await this.#sleep(BATCH_DELAY_MS, signal);
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await (this.#options.pauses ?? systemClock).sleep(ms, signal).catch(() => {});
  }

  async #untilDue(): Promise<void> {
    const due = new AbortController();
    this.#wake = () => due.abort();
    if (this.#isDue || this.#stopped.signal.aborted) return;
    await this.#sleep(POLL_INTERVAL_MS, due.signal);
  }

  /** Reads what other processes have learnt, and writes what was learnt here. */
  async #sync(): Promise<void> {
    const { store, broker, writer, capabilities, clock, onReceived } = this.#options;
    const askedMs = clock.now();
    const read = await store.read(broker, FACT_TTL_MS);
    const answeredMs = clock.now();
    const offset = { leastMs: read.nowMs - answeredMs, mostMs: read.nowMs - askedMs };
    this.#sinceStoreMs ??= read.nowMs;
    const startedMs = this.#sinceStoreMs - offset.leastMs;
    const taken: string[] = [];
    for (const note of read.notes) {
      const learnt = note.writer === writer ? undefined : readNote(note.text, offset, answeredMs);
      if (learnt === undefined) continue;
      for (const collection of COLLECTIONS)
        taken.push(...capabilities[collection].add(learnt[collection], startedMs));
    }
    if (taken.length > 0) onReceived?.(taken);
    if (!this.#isUnwritten) return;
    this.#isUnwritten = false;
    try {
      const learnt = { entities: capabilities.entities.facts(), temporal: capabilities.temporal.facts() };
      await store.write(broker, { writer, text: writeNote(learnt, offset) }, FACT_TTL_MS);
    } catch (error) {
      this.#isUnwritten = true;
      throw error;
    }
  }
}

/** How far the store's clock is ahead of this process's clock, in milliseconds: a value between these two. */
export interface ClockOffset {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * Incremented whenever the meaning of a fact or the way of proving a filter changes, so that gateways of other versions
 * do not trust proofs made in another way.
 */
const FORMAT = 2;

/** A longer text is not a note of the gateway. */
const MAX_LENGTH = 64 * 1024;

/**
 * Writes a note: what one process has learnt, as JSON, with the times of the facts on the store's clock, which all
 * processes share. Because the clock offset is a range, facts are dated at its older end and contradictions at its
 * newer end.
 */
export function writeNote(learnt: FactsByCollection, { leastMs, mostMs }: ClockOffset): string {
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
 * Reads a note of another process, with times converted to the clock of this one. As in `writeNote`, facts are dated
 * older and contradictions newer.
 *
 * @param nowMs the time on the clock of this process
 * @returns undefined if any part of the text is not a valid note, or the note has another format
 */
export function readNote(
  text: string,
  { leastMs, mostMs }: ClockOffset,
  nowMs: number,
): FactsByCollection | undefined {
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
