import { randomBytes } from 'node:crypto';
import { lastHash, hashText } from '../../shared/text-hash.js';

/** The state of one item, by its key, during a purge. */
export const IdState = {
  /** Never seen. */
  unknown: 0,
  /**
   * Its delete is in flight or about to be sent. If the delete is not sent after all, or refused in a batch, this stays the
   * state.
   */
  pending: 1,
  /** Deleted at the first try: the broker said so, or did not have it any more after an unclear delete. */
  gone: 2,
  /** The broker did not have it at the first try. */
  absent: 3,
  /** Not deleted, for a reason that may pass: a final retry is due. */
  retryDue: 4,
  /** Deleted by the final retry, or by an unclear delete, as later queries show. */
  goneTwice: 5,
  /** The broker did not have it at the final retry, or does not list it any more although no delete had an effect. */
  absentTwice: 6,
  /** Not deleted, and not retried any more. */
  failed: 7,
  /** Deleted, and then made again by somebody. What exists now is a new item, and is left alone. */
  madeAgain: 8,
} as const;
export type IdState = (typeof IdState)[keyof typeof IdState];

/** Whether an item in this state counts as deleted by this purge, and not as made again since. */
export function isGone(state: IdState): boolean {
  return state === IdState.gone || state === IdState.goneTwice;
}

/** Initial number of slots: a power of two, because the slot of an id is found by the low bits of its hash. */
const FIRST_SLOTS = 1024;

/**
 * The states of all ids that a purge has seen, in nine bytes per slot, because a million ids take too much memory as strings.
 * An id may also be unclear: a delete was sent, and its effect is unknown.
 *
 * An open-addressing table of 64-bit hashes. If two ids share a hash (about 1 in 10^7 for a million ids), the second one looks
 * as if it had been seen. It is then handled like any id that is listed again, and never deleted by mistake. The random seed
 * prevents deliberate collisions.
 */
export class IdStates {
  #low = new Uint32Array(FIRST_SLOTS);
  #high = new Uint32Array(FIRST_SLOTS);
  /** The state in the low bits (0 for an empty slot), then the bit for unclear ids, and the survey mark in the rest. */
  #cells = new Uint8Array(FIRST_SLOTS);
  #used = 0;
  #mark = 0;
  /** Number of ids by state and by whether they are unclear. */
  readonly #counts = new Array<number>(32).fill(0);
  readonly #seed1: number;
  readonly #seed2: number;

  constructor(seed: Buffer = randomBytes(8)) {
    this.#seed1 = seed.readUInt32LE(0);
    this.#seed2 = seed.readUInt32LE(4);
  }

  /** Number of ids in some states, unclear ones included. */
  count(...states: readonly IdState[]): number {
    let sum = this.countUnclear(...states);
    for (const state of states) sum += this.#counts[state] ?? 0;
    return sum;
  }

  /** Number of unclear ids in some states. */
  countUnclear(...states: readonly IdState[]): number {
    let sum = 0;
    for (const state of states) sum += this.#counts[state | UNCLEAR] ?? 0;
    return sum;
  }

  /** Number of ids ever seen. */
  get size(): number {
    return this.#used;
  }

  get(id: string): IdState {
    return stateOf(this.#cells[this.#slotOf(id)] ?? 0);
  }

  /** True when a delete of the id was sent with unknown effect. */
  isUnclear(id: string): boolean {
    return ((this.#cells[this.#slotOf(id)] ?? 0) & UNCLEAR) !== 0;
  }

  /** Adds an id as pending; false if it is known already, in which case nothing changes. */
  add(id: string): boolean {
    const slot = this.#claim(id);
    if (this.#cells[slot] !== 0) return false;
    this.#change(slot, IdState.pending);
    return true;
  }

  /** Sets the state of an id. @param isUnclear unchanged by default */
  set(id: string, state: Exclude<IdState, 0>, isUnclear?: boolean): void {
    const slot = this.#claim(id);
    const cell = this.#cells[slot] ?? 0;
    this.#change(slot, state | ((isUnclear ?? (cell & UNCLEAR) !== 0) ? UNCLEAR : 0));
  }

  /** Starts a new survey: no id is marked as listed in it yet. */
  startSurvey(): void {
    this.#mark = (this.#mark % MARKS) + 1;
    // Marks are reused: clear those of earlier surveys.
    if (this.#mark !== 1) return;
    for (const [slot, cell] of this.#cells.entries()) this.#cells[slot] = cell & KNOWN_BITS;
  }

  /** Marks a known id as listed in the current survey; false if it is unknown or was already listed. */
  markListed(id: string): boolean {
    const slot = this.#slotOf(id);
    const cell = this.#cells[slot] ?? 0;
    if (cell === 0 || cell >> MARK_SHIFT === this.#mark) return false;
    this.#cells[slot] = (cell & KNOWN_BITS) | (this.#mark << MARK_SHIFT);
    return true;
  }

  /** True when the id was listed in the current survey. */
  isListed(id: string): boolean {
    const cell = this.#cells[this.#slotOf(id)] ?? 0;
    return cell !== 0 && cell >> MARK_SHIFT === this.#mark;
  }

  /**
   * Uses the current survey to resolve the ids that were not deleted: those in retryDue or failed, and pending ones that are
   * not unclear. Ids that it listed still exist, so they are no longer unclear.
   *
   * @param showsAll ids that it did not list are gone: deleted if unclear, otherwise absent. If false, such ids stay as they
   *   are, except that pending ones become failed
   */
  resolveBySurvey(showsAll: boolean): void {
    for (let slot = 0; slot < this.#cells.length; slot++) {
      const cell = this.#cells[slot] ?? 0;
      const state = stateOf(cell);
      const isNeverSent = (cell & KNOWN_BITS) === IdState.pending;
      if (state !== IdState.retryDue && state !== IdState.failed && !isNeverSent) continue;
      const isListed = cell >> MARK_SHIFT === this.#mark;
      if (isListed || (isNeverSent && !showsAll)) this.#change(slot, isNeverSent ? IdState.failed : state);
      else if (showsAll) this.#change(slot, (cell & UNCLEAR) === 0 ? IdState.absentTwice : IdState.goneTwice);
    }
  }

  /** @param known the state, and whether it is unclear */
  #change(slot: number, known: number): void {
    const cell = this.#cells[slot] ?? 0;
    const before = cell & KNOWN_BITS;
    if (before !== 0) this.#counts[before] = (this.#counts[before] ?? 0) - 1;
    this.#counts[known] = (this.#counts[known] ?? 0) + 1;
    this.#cells[slot] = (cell & ~KNOWN_BITS) | known;
  }

  /** Returns the slot of an id. If it has none, it gets an empty slot, which must be given a state at once. */
  #claim(id: string): number {
    if ((this.#used + 1) * 10 > this.#cells.length * 6) this.#grow();
    const slot = this.#slotOf(id);
    if (this.#cells[slot] === 0) {
      this.#low[slot] = lastHash.low;
      this.#high[slot] = lastHash.high;
      this.#used += 1;
    }
    return slot;
  }

  /** Returns the slot of an id, or the empty slot where it belongs. Leaves the hash in `hashed`. */
  #slotOf(id: string): number {
    hashText(id, this.#seed1, this.#seed2);
    return this.#probe(lastHash.low, lastHash.high);
  }

  #probe(low: number, high: number): number {
    const mask = this.#cells.length - 1;
    let slot = low & mask;
    while (this.#cells[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [low, high, cells] = [this.#low, this.#high, this.#cells];
    const slots = cells.length * 2;
    this.#low = new Uint32Array(slots);
    this.#high = new Uint32Array(slots);
    this.#cells = new Uint8Array(slots);
    for (let from = 0; from < cells.length; from++) {
      const cell = cells[from] ?? 0;
      if (cell === 0) continue;
      const to = this.#probe(low[from] ?? 0, high[from] ?? 0);
      this.#low[to] = low[from] ?? 0;
      this.#high[to] = high[from] ?? 0;
      this.#cells[to] = cell;
    }
  }
}

const STATE_BITS = 0b0000_1111;
const UNCLEAR = 0b0001_0000;
const KNOWN_BITS = STATE_BITS | UNCLEAR;
const MARK_SHIFT = 5;
/** Number of values that the bits of the mark can hold. */
const MARKS = 7;

function stateOf(cell: number): IdState {
  return (cell & STATE_BITS) as IdState;
}
