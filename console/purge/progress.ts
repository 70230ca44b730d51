/** How far a purge is. Pure: it is tested without a browser. */
import type { Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';

type Counted = Pick<
  Purge,
  'state' | 'matched' | 'expected' | 'deleted' | 'alreadyGone' | 'failed' | 'unknown' | 'estimatedEndAt'
> &
  Partial<Pick<Purge, 'restored' | 'alreadyThere'>>;

export interface Progress {
  /** Of which it is known what became of them, or that it will stay unknown. */
  readonly settled: number;
  /** Never fewer than are settled. */
  readonly all: number;
  /** Whether `all` is the number that there are; else more may come. */
  readonly isKnown: boolean;
  /** Milliseconds to the end, as far as can be said. */
  readonly leftMs: number | undefined;
}

/** @param timeOf a time of the record, in milliseconds by the clock of `nowMs` */
export function progressOf(record: Counted, timeOf: (iso: string) => number, nowMs: number): Progress {
  const { matched, expected, deleted, alreadyGone, failed, unknown, estimatedEndAt } = record;
  const { restored = 0, alreadyThere = 0 } = record;
  const settled = deleted + alreadyGone + restored + alreadyThere + failed + unknown;
  const isOver = isFinal(record);
  const leftMs = isOver || estimatedEndAt === undefined ? undefined : timeOf(estimatedEndAt) - nowMs;
  return {
    settled,
    all: Math.max(matched, expected ?? 0, settled),
    isKnown: isOver || expected !== undefined,
    leftMs: leftMs !== undefined && leftMs > 0 ? leftMs : undefined,
  };
}

/** An item that failed: its entity and the part of it, and what was said of it. */
export function failureText(item: Readonly<Record<string, unknown>>): {
  readonly name: string;
  readonly words: string;
} {
  const name = ['entityId', 'attribute', 'datasetId', 'instanceId']
    .map((member) => item[member])
    .filter((part) => typeof part === 'string')
    .join(' · ');
  return { name, words: wordsOf(item['error']) };
}

function wordsOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { status, title, detail } = error as Readonly<Record<string, unknown>>;
  return [status, detail ?? title]
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .join(' ');
}

/** Whether a list of what was deleted is kept with a purge. */
export function keepsIds({ query }: Pick<Purge, 'query'>): boolean {
  return /(?:^|&)record=ids(?:&|$)/.test(query);
}
