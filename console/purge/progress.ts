/** The progress of a purge. Pure: it is tested without a browser. */
import type { Purge } from '../api/client.js';
import { isFinal } from '../../sidecar/client/purges.js';

type Counted = Pick<
  Purge,
  'state' | 'matched' | 'expected' | 'deleted' | 'alreadyGone' | 'failed' | 'unknown' | 'ratePerSecond'
> &
  Partial<Pick<Purge, 'restored' | 'alreadyThere'>>;

/** Computes the progress. The clock of this machine may differ from the gateway's, so no time of the record is used. */
export function progressOf(record: Counted) {
  const { matched, expected, deleted, alreadyGone, failed, unknown, ratePerSecond = 0 } = record;
  const { restored = 0, alreadyThere = 0 } = record;
  const settled = deleted + alreadyGone + restored + alreadyThere + failed + unknown;
  const isOver = isFinal(record);
  const left = isOver ? 0 : (expected ?? 0) - settled;
  return {
    /** Number of items that the purge is done with, including those whose outcome is unknown. */
    settled,
    /** Number of items in total. */
    all: Math.max(matched, expected ?? 0, settled),
    /** Whether `all` is the final number; otherwise there may be more. */
    isKnown: isOver || expected !== undefined,
    /** Milliseconds to the end, if known. */
    leftMs: left > 0 && ratePerSecond > 0 ? (left * 1000) / ratePerSecond : undefined,
  };
}

/** Describes a failed item: its entity and the part of it, and the error message. */
export function failureText(item: Readonly<Record<string, unknown>>) {
  const { status, title, detail } = Object(item['error']) as Readonly<Record<string, unknown>>;
  const joined = (parts: readonly unknown[], separator: string) =>
    parts.filter((part) => typeof part === 'string' || typeof part === 'number').join(separator);
  const { entityId, attribute, datasetId, instanceId } = item;
  const name = joined([entityId, attribute, datasetId, instanceId], ' · ');
  return { name, words: joined([status, detail ?? title], ' ') };
}

/** Whether a list of what was deleted is kept with a purge. */
export function keepsIds({ query }: Pick<Purge, 'query'>): boolean {
  return /(?:^|&)record=ids(?:&|$)/.test(query);
}
