/** The progress of a purge. Pure: it is tested without a browser. */
import type { Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';

type Counted = Pick<
  Purge,
  'state' | 'matched' | 'expected' | 'deleted' | 'alreadyGone' | 'failed' | 'unknown' | 'ratePerSecond'
> &
  Partial<Pick<Purge, 'restored' | 'alreadyThere'>>;

export interface Progress {
  /** Number of items that the purge is done with, including those whose outcome is unknown. */
  readonly settled: number;
  /** Number of items in total; never less than `settled`. */
  readonly all: number;
  /** Whether `all` is the final number; otherwise there may be more. */
  readonly isKnown: boolean;
  /** Milliseconds to the end, if known. */
  readonly leftMs: number | undefined;
}

/** Computes the progress. The clock of this machine may differ from the gateway's, so no time of the record is used. */
export function progressOf(record: Counted): Progress {
  const { matched, expected, deleted, alreadyGone, failed, unknown, ratePerSecond = 0 } = record;
  const { restored = 0, alreadyThere = 0 } = record;
  const settled = deleted + alreadyGone + restored + alreadyThere + failed + unknown;
  const isOver = isFinal(record);
  const left = isOver ? 0 : (expected ?? 0) - settled;
  return {
    settled,
    all: Math.max(matched, expected ?? 0, settled),
    isKnown: isOver || expected !== undefined,
    leftMs: left > 0 && ratePerSecond > 0 ? (left * 1000) / ratePerSecond : undefined,
  };
}

/** Describes a failed item: its entity and the part of it, and the error message. */
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
