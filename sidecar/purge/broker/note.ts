/**
 * What one process has learnt about a broker, written down for others: JSON with the facts of each collection, and their times
 * by the clock of the store, which all processes share.
 */
import { DISTRUSTED, isFact, type Fact, type Facts, type FactValue } from './facts.js';

/** Facts by collection. */
export type Learnt = Readonly<Record<(typeof COLLECTIONS)[number], Facts>>;

/** What the clock of the store is ahead of that of this process, in milliseconds: it lies between the two. */
export interface ClockOffset {
  readonly leastMs: number;
  readonly mostMs: number;
}

export const COLLECTIONS = ['entities', 'temporal'] as const;

/**
 * Raised with each change of what a fact means, or of how a filter is proven: gateways of other versions then believe no proof
 * that was made in another way.
 */
const FORMAT = 2;

/** A longer note is none of ours. */
const MAX_LENGTH = 64 * 1024;

/** A note. Where the clocks leave it open when something was, a fact counts as older, and a contradiction as newer. */
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
 * Reads a note of another process, by the clock of this one. Facts count as older, and contradictions as newer, as in `writeNote`.
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
