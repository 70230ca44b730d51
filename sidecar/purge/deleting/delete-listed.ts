import type { Clock } from '../../shared/clock.js';
import type { Listed } from '../listing/index.js';
import { BrokerFailedError } from '../errors.js';
import type { DeleteResult } from '../broker/index.js';
import type { DeletingContext } from './deleter.js';
import { Dispatcher } from './dispatcher.js';

/** Only what was listed this recently is deleted: anything older may no longer match. */
const FRESH_MS = 2000;

/** The maximum of that time, for brokers that take long to answer a list. */
const FRESH_MAX_MS = 10_000;

/** A round lists what can be deleted in about this share of that time, so that little of it gets too old. */
const ROUND_SHARE = 0.75;

/**
 * Returns for how many milliseconds listed items may be deleted: two seconds, or as long as the list took, so that a purge does
 * not spend most of its time listing if each answer takes seconds; but never more than ten seconds.
 */
export function freshMsOf({ tookMs }: Pick<Listed, 'tookMs'>): number {
  return Math.min(FRESH_MAX_MS, Math.max(FRESH_MS, tookMs));
}

/** Returns a function that tells whether listed items are by now too old to be deleted. */
export function isStaleSince(clock: Pick<Clock, 'monotonicMs'>, listed: Listed): () => boolean {
  const freshMs = freshMsOf(listed);
  return () => clock.monotonicMs() - listed.atMs > freshMs;
}

/** A round of listing and deleting. */
interface Round {
  readonly listed: Pick<Listed, 'tookMs'>;
  /** Items whose deletes were sent within `ms`. */
  readonly sent: number;
  /** Items that got too old to be sent. */
  readonly unsent: number;
  readonly ms: number;
}

/** Decides how far ahead to list: as many items as can be deleted before they get too old, by the speed so far and the rate. */
export class ListAhead {
  /** Items per millisecond; unlimited until something got too old. */
  #speed = Infinity;
  #freshMs = FRESH_MS;

  /** Learns from what was listed and then deleted. */
  note({ listed, sent, unsent, ms }: Round): void {
    this.#freshMs = freshMsOf(listed);
    const speed = sent / Math.max(1, ms);
    if (unsent > 0) this.#speed = speed;
    // Small rounds are slower than they need to be: let them grow.
    else this.#speed = Math.max(this.#speed, speed) * 1.5;
  }

  /** Returns the number of items to list. @param burst maximum number of items that may be deleted in a second */
  next(burst: number): number {
    return Math.max(1, Math.floor(Math.min(this.#speed, burst / 1000) * this.#freshMs * ROUND_SHARE));
  }
}

/** Maximum number of tries of an item that decide nothing. */
const MAX_TRIES = 3;

/** Maximum number of items whose tries are remembered; others have one try. */
const MAX_REMEMBERED = 10_000;

/** How often tries of items decided nothing, such as final tries that were cut short because their list got too old. */
export class RepeatedTries {
  readonly #tries = new Map<string, number>();

  /** @param key of an item, as in the ledger */
  of(key: string): number {
    return this.#tries.get(key) ?? 0;
  }

  /** Whether the next try is the last, however it ends. */
  isLast(key: string): boolean {
    return this.of(key) >= MAX_TRIES - 1;
  }

  /** Notes a try that decided nothing; false if there may be no further try. */
  note(key: string): boolean {
    const tries = this.of(key) + 1;
    if (tries > 1 || this.#tries.size < MAX_REMEMBERED) this.#tries.set(key, tries);
    return tries < MAX_TRIES && this.#tries.has(key);
  }
}

export interface DeleteTry {
  /** The list that the ids are from. */
  readonly listed: Listed;
  /** Send one request for each entity, even if batches work. */
  readonly singly?: true;
  /** Failures of these ids alone do not end the purge: they are reported. */
  readonly isRetry?: true;
  /** Maximum number of ids in one batch. */
  readonly batchMax?: number;
  /** Receives each result. @default records it as that of a try that may be followed by another one */
  readonly onResult?: (id: string, result: DeleteResult, isOfBatch: boolean) => void;
}

/**
 * Deletes entities with the purge's concurrency. What was listed too long ago is not sent. Errors are thrown only when no
 * request is in flight. An error halts the purge, unless this is a retry and the broker answered nothing but failures.
 */
export async function deleteIds(
  scope: DeletingContext,
  ids: readonly string[],
  howToTry: DeleteTry,
): Promise<void> {
  const { deleter, ledger, limits, clock, histories } = scope;
  const { listed, singly = false, batchMax = Infinity } = howToTry;
  const { onResult = (entityId, result) => ledger.record({ entityId }, result, false) } = howToTry;
  const isStale = isStaleSince(clock, listed);
  const run = async (chunk: readonly string[]): Promise<readonly string[]> => {
    if (isStale()) return [];
    if (!singly && deleter.usesBatches) {
      const left = await deleter.deleteBatch(chunk, (id, result) => onResult(id, result, true), isStale);
      scope.reportProgress();
      return left;
    }
    const kept = await histories?.keep(chunk.map((entityId) => ({ entityId })));
    const isTooOld = kept === undefined ? isStale : isStaleSince(clock, kept.listed);
    for (const entityId of kept?.items.map((item) => item.entityId) ?? chunk) {
      onResult(entityId, await deleter.deleteOne(entityId, isTooOld), false);
      scope.reportProgress();
    }
    return [];
  };
  const dispatcher = new Dispatcher<string>({
    concurrency: () => Math.min(limits.concurrency, histories?.atOnce ?? Infinity),
    endOfChunk: (queue, from) =>
      !singly && deleter.usesBatches
        ? endOfBatch(queue, from, Math.min(deleter.batchSize, batchMax))
        : from + (histories?.most ?? 1),
    run,
  });
  try {
    dispatcher.add(ids);
    await dispatcher.settled();
  } catch (error) {
    if (howToTry.isRetry !== true || !isHopeless(error)) scope.requester.halt();
    await dispatcher.abandon();
    throw error;
  }
}

/** Maximum size of the body of a batch delete; brokers refuse bodies of 1 MB or more. */
const MAX_BATCH_BYTES = 900_000;

/** Returns where a batch ends that begins at an index of the queue. */
function endOfBatch(queue: readonly string[], from: number, size: number): number {
  const most = Math.min(queue.length, from + size);
  let bytes = 0;
  for (let to = from; to < most; to++) {
    bytes += Buffer.byteLength(JSON.stringify(queue[to])) + 1;
    if (bytes > MAX_BATCH_BYTES) return to;
  }
  return most;
}

/** Whether an error only says that the last tries brought nothing but failures. */
export function isHopeless(error: unknown): error is BrokerFailedError {
  return error instanceof BrokerFailedError && error.reason === 'nothing-but-failures';
}
