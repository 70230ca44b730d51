import { parseBrokerProblem, type BrokerProblem } from '../broker/broker-problem.js';
import type { BrokerCapabilities } from '../broker/capabilities.js';
import type { BrokerReply } from '../broker/failure.js';
import { failureIn, readBatchReply, type DeleteResult } from '../broker/batch-reply.js';
import { BrokerRefusedError } from '../errors.js';
import { givenUp } from './given-up.js';
import type { ListedResource } from '../listing/listed-resource.js';
import { createEntityPaths } from '../proof/path-proof.js';
import { ListedTooLongAgo, MustBeSplit } from '../requests/one-try.js';
import type { Requester, Settled } from '../requests/requester.js';

/** Receives each result as soon as it is known, so that it counts even if the purge fails right after. */
export type ReportResult = (id: string, verdict: DeleteResult) => void;

/** Deletes entities by batch or singly. */
export interface Deleter {
  /**
   * Deletes a batch, halving it where the broker refuses it.
   *
   * @param isStale whether it was listed too long ago; what is not sent for that is reported as `unsent`
   * @returns the ids left to be deleted singly, because the broker has no batch delete
   */
  deleteBatch(
    ids: readonly string[],
    report: ReportResult,
    isStale: () => boolean,
  ): Promise<readonly string[]>;
  /** Deletes one entity. */
  deleteOne(id: string, isStale: () => boolean): Promise<DeleteResult>;
  /** True while batches are worth sending. */
  readonly usesBatches: boolean;
  /** Most ids that one batch may hold. */
  readonly batchSize: number;
}

export type DeleteStrategy = 'auto' | 'batch' | 'single';

export interface DeleterOptions {
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly strategy: DeleteStrategy;
  readonly batchSize: number;
  /** The collection to delete from. Temporal entities have no batch delete. */
  readonly path: ListedResource['path'];
  /** Receives the ids whose delete is about to be sent; when it throws, nothing is sent. */
  readonly onSend: (ids: readonly string[]) => void;
  /** Receives the ids whose delete may have had an effect but had no clear answer. */
  readonly onUnclear: (ids: readonly string[]) => void;
}

/** What goes along with the ids of a batch. */
interface BatchOrder {
  readonly report: ReportResult;
  readonly isStale: () => boolean;
}

/** What remains of a batch besides the reported results. */
interface BatchEnd {
  readonly leftForSingle: readonly string[];
  /** The broker refused a batch of a single id: the id was the reason, not the size. */
  readonly foundCulprit: boolean;
}

const BATCH_PATH = '/entityOperations/delete';
const DELETED = { kind: 'deleted' } as const;
const ABSENT = { kind: 'absent' } as const;
const UNSENT = { kind: 'unsent' } as const;
const DONE: BatchEnd = { leftForSingle: [], foundCulprit: false };

/** After this many refused ids without an accepted batch, the broker is considered to refuse batches. */
const MAX_CULPRITS = 10;

export function createDeleter(options: DeleterOptions): Deleter {
  const { requester, capabilities, strategy, onSend, onUnclear } = options;
  let batchAccepted = false;
  let culprits = 0;

  const { path: collection } = options;
  const paths = createEntityPaths(requester, collection);
  const isTemporal = collection === '/temporal/entities';
  const usesBatches = () =>
    !isTemporal &&
    (strategy === 'batch' ||
      (strategy === 'auto' && capabilities.batchDelete && (batchAccepted || culprits < MAX_CULPRITS)));

  const sizeMax = () => Math.min(requester.mostAtOnce, capabilities.batchSizeMax ?? Infinity);

  /** @param mayBeGone an earlier try of this batch had no clear answer */
  async function deleteBatch(
    ids: readonly string[],
    order: BatchOrder,
    mayBeGone = false,
  ): Promise<BatchEnd> {
    if (!usesBatches()) return { leftForSingle: ids, foundCulprit: false };
    return ids.length > sizeMax() ? inParts(ids, order, mayBeGone) : inOne(ids, order, mayBeGone);
  }

  async function inOne(ids: readonly string[], order: BatchOrder, wasUnclear: boolean): Promise<BatchEnd> {
    const { report, isStale } = order;
    let open = ids;
    let mayBeGone = wasUnclear;
    let failed: readonly (readonly [string, DeleteResult])[] = [];
    for (let attempt = 1; ; attempt++) {
      let settled: Settled;
      try {
        settled = await requester.send({
          method: 'POST',
          path: BATCH_PATH,
          jsonBody: JSON.stringify(open),
          operation: 'delete a batch of entities',
          deletes: open.length,
          isStale,
          onSend: () => onSend(open),
          onUnclear: () => {
            mayBeGone = true;
            onUnclear(open);
          },
        });
      } catch (error) {
        if (error instanceof MustBeSplit) return inParts(open, order, mayBeGone);
        if (!(error instanceof ListedTooLongAgo)) throw error;
        if (attempt === 1) for (const id of open) report(id, UNSENT);
        for (const [id, item] of failed) report(id, { ...item, isCutShort: true } as DeleteResult);
        return DONE;
      }
      if (settled.kind === 'gave-up') {
        const verdict = givenUp(settled);
        for (const id of open) report(id, verdict);
        return DONE;
      }
      const verdict = readBatchReply(settled.reply, open);
      if (verdict.kind === 'no-batch') return withoutBatches(open, settled.reply, mayBeGone, report);
      if (verdict.kind === 'refused') return halve(open, verdict.problem, order);
      batchAccepted = true;
      onUnclear([...verdict.items].filter(([, item]) => isUnclear(item)).map(([id]) => id));
      const retryable = [...verdict.items].filter(([, item]) => item.kind === 'retryable');
      for (const [id, item] of verdict.items) if (item.kind !== 'retryable') report(id, item);
      const last = retryable.at(-1)?.[1];
      if (last?.kind !== 'retryable') return DONE;
      const failure = { kind: 'broker-error', status: last.problem.status } as const;
      if (!(await requester.pause(attempt, failure))) {
        for (const [id, item] of retryable) report(id, item);
        return DONE;
      }
      failed = retryable;
      open = retryable.map(([id]) => id);
    }
  }

  async function inParts(ids: readonly string[], order: BatchOrder, mayBeGone: boolean): Promise<BatchEnd> {
    const parts: BatchEnd[] = [];
    let rest = ids;
    while (rest.length > 0) {
      // The rate may change between two parts.
      const size = sizeMax();
      parts.push(await deleteBatch(rest.slice(0, size), order, mayBeGone));
      rest = rest.slice(size);
    }
    return merge(parts);
  }

  /** @param mayBeGone an earlier try of this batch had no clear answer */
  function withoutBatches(
    ids: readonly string[],
    reply: BrokerReply,
    mayBeGone: boolean,
    report: ReportResult,
  ): BatchEnd {
    // If batches have worked before, a bare 404 answers the repeat of a batch whose answer was lost: all its ids are gone.
    if (batchAccepted && reply.status === 404) {
      for (const id of ids) report(id, ABSENT);
      return DONE;
    }
    if (strategy === 'batch' && mayBeGone && reply.status === 404) {
      // The same, unless there is no batch delete. The next query shows it; what it still lists is sent once more.
      const problem = parseBrokerProblem(reply);
      for (const id of ids) report(id, { kind: 'retryable', problem });
      return DONE;
    }
    if (strategy === 'batch') {
      throw new BrokerRefusedError('delete a batch of entities', parseBrokerProblem(reply));
    }
    capabilities.batchDelete = false;
    return { leftForSingle: ids, foundCulprit: false };
  }

  /** Halves a refused batch, to find out whether its size or one of its ids was the reason. */
  async function halve(ids: readonly string[], problem: BrokerProblem, order: BatchOrder): Promise<BatchEnd> {
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) {
      culprits += 1;
      const verdict =
        strategy === 'batch' ? ({ kind: 'refused', problem } as const) : await deleteOne(only, order.isStale);
      // Refused in every batch but deleted singly: this broker cannot do batches. Somebody else may have deleted what is absent.
      if (!batchAccepted && verdict.kind === 'deleted') capabilities.batchDelete = false;
      order.report(only, verdict);
      return { leftForSingle: [], foundCulprit: true };
    }
    const half = Math.ceil(ids.length / 2);
    if (problem.status === 413) shrinkBatches(half);
    const left = await deleteBatch(ids.slice(0, half), order);
    const end = merge([left, await deleteBatch(ids.slice(half), order)]);
    // None of the ids was the reason, so the size was.
    if (batchAccepted && !end.foundCulprit) shrinkBatches(half);
    return end;
  }

  function shrinkBatches(size: number): void {
    capabilities.batchSizeMax = Math.min(size, capabilities.batchSizeMax ?? Infinity);
  }

  async function deleteOne(id: string, isStale: () => boolean): Promise<DeleteResult> {
    try {
      return await sendOne(id, isStale);
    } catch (error) {
      if (error instanceof ListedTooLongAgo) return UNSENT;
      throw error;
    }
  }

  async function sendOne(id: string, isStale: () => boolean): Promise<DeleteResult> {
    const viaBatch = async () => (usesBatches() ? batchOfOne(id, isStale) : undefined);
    const verdict = strategy === 'batch' ? await viaBatch() : undefined;
    if (verdict !== undefined) return verdict;
    const safe = await paths.safePathOf(id);
    return 'path' in safe ? viaPath(id, safe.path, isStale) : ((await viaBatch()) ?? safe.doubt);
  }

  async function viaPath(id: string, path: string, isStale: () => boolean): Promise<DeleteResult> {
    const operation = isTemporal ? 'delete a temporal entity' : 'delete an entity';
    const settled = await requester.send({
      ...{ method: 'DELETE', path, operation, item: id, deletes: 1, isStale },
      onSend: () => onSend([id]),
      onUnclear: () => onUnclear([id]),
    });
    if (settled.kind === 'gave-up') return givenUp(settled);
    const { reply } = settled;
    const verdict = readSingleReply(reply, id, operation);
    // Of a delete that failed in part, the other part may have had an effect.
    if (isUnclear(verdict) || (reply.status === 207 && verdict.kind === 'refused')) onUnclear([id]);
    return verdict;
  }

  /** Undefined when the broker has no batch delete. */
  async function batchOfOne(id: string, isStale: () => boolean): Promise<DeleteResult | undefined> {
    const settled = await requester.send({
      method: 'POST',
      path: BATCH_PATH,
      jsonBody: JSON.stringify([id]),
      operation: 'delete an entity',
      deletes: 1,
      item: id,
      isStale,
      onSend: () => onSend([id]),
      onUnclear: () => onUnclear([id]),
    });
    if (settled.kind === 'gave-up') return givenUp(settled);
    const verdict = readBatchReply(settled.reply, [id]);
    if (verdict.kind === 'no-batch') return undefined;
    if (verdict.kind === 'refused') return verdict;
    const item = verdict.items.get(id) ?? DELETED;
    if (isUnclear(item)) onUnclear([id]);
    return item;
  }

  return {
    deleteBatch: async (ids, report, isStale) => (await deleteBatch(ids, { report, isStale })).leftForSingle,
    deleteOne,
    get usesBatches() {
      return usesBatches();
    },
    get batchSize() {
      return Math.min(options.batchSize, sizeMax());
    },
  };
}

function merge(parts: readonly BatchEnd[]): BatchEnd {
  return {
    leftForSingle: parts.flatMap((part) => part.leftForSingle),
    foundCulprit: parts.some((part) => part.foundCulprit),
  };
}

/** The delete may have had an effect: the broker may have failed after forwarding it. */
function isUnclear(item: DeleteResult): boolean {
  return item.kind === 'unclear' || (item.kind === 'retryable' && item.problem.status >= 500);
}

/**
 * Reads the answer to the delete of one entity (clause 6.5.3.2). 404 is not a failure: another client, or a delete whose
 * answer was lost, may have come first.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
function readSingleReply(reply: BrokerReply, id: string, operation: string): DeleteResult {
  if (reply.status === 405 || reply.status === 501) {
    throw new BrokerRefusedError(operation, parseBrokerProblem(reply));
  }
  if (reply.status === 404) return ABSENT;
  const failure = failureIn(reply);
  if (failure !== undefined) return failure;
  const verdict = readBatchReply(reply, [id]);
  if (verdict.kind === 'items') return verdict.items.get(id) ?? DELETED;
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}
