import { parseBrokerProblem, type BrokerProblem } from './broker/broker-problem.js';
import type { BrokerCapabilities } from './broker/capabilities.js';
import type { BrokerReply } from './broker/failure.js';
import { readBatchReply, type DeleteResult } from './batch-reply.js';
import { BrokerRefusedError } from './errors.js';
import { problemOfFailure } from './items/item-problem.js';
import type { ListedResource } from './listing/listed-resource.js';
import { createEntityPaths } from './proof/path-proof.js';
import type { Requester } from './requests/requester.js';

/** Told of each entity's outcome as soon as it is known: what was done counts, even if the purge ends right after. */
export type ReportResult = (id: string, verdict: DeleteResult) => void;

/** Deletes entities by batch or singly; knows nothing of where the ids come from. */
export interface Deleter {
  /**
   * Deletes a batch, halving it where the broker refuses it.
   *
   * @returns ids not settled, because they must go singly: the broker takes no batches
   */
  deleteBatch(ids: readonly string[], report: ReportResult): Promise<readonly string[]>;
  /** Deletes one entity. */
  deleteOne(id: string): Promise<DeleteResult>;
  /** Entities that the broker had, and deleted, when asked for each alone. */
  readonly deletedSingly: number;
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
  /** The collection to delete from; there is no batch delete of temporal entities. */
  readonly path: ListedResource['path'];
  /** Told of entities of which a delete may have had its effect, and had no clear answer. */
  readonly onUnclear: (ids: readonly string[]) => void;
}

/** What a batch came to, besides its settled items. */
interface BatchEnd {
  readonly leftForSingle: readonly string[];
  /** The broker refused a batch of nothing but one id: it was that id, not the size. */
  readonly foundCulprit: boolean;
}

const BATCH_PATH = '/entityOperations/delete';
const DELETED = { kind: 'deleted' } as const;
const ABSENT = { kind: 'absent' } as const;
const DONE: BatchEnd = { leftForSingle: [], foundCulprit: false };

/** Culprits without a single accepted batch after which it is batches, or deletes, that the broker refuses. */
const MAX_CULPRITS = 10;

export function createDeleter(options: DeleterOptions): Deleter {
  const { requester, capabilities, strategy, onUnclear } = options;
  let batchAccepted = false;
  let culprits = 0;
  let deletedSingly = 0;

  const { path: collection } = options;
  const paths = createEntityPaths(requester, collection);
  const isTemporal = collection === '/temporal/entities';
  const usesBatches = () =>
    !isTemporal &&
    (strategy === 'batch' ||
      (strategy === 'auto' && capabilities.batchDelete && (batchAccepted || culprits < MAX_CULPRITS)));

  async function deleteBatch(ids: readonly string[], report: ReportResult): Promise<BatchEnd> {
    if (!usesBatches()) return { leftForSingle: ids, foundCulprit: false };
    const size = capabilities.batchSizeMax ?? Infinity;
    return ids.length > size ? inParts(ids, size, report) : inOne(ids, report);
  }

  async function inOne(ids: readonly string[], report: ReportResult): Promise<BatchEnd> {
    let open = ids;
    for (let attempt = 1; ; attempt++) {
      const settled = await requester.send({
        method: 'POST',
        path: BATCH_PATH,
        jsonBody: JSON.stringify(open),
        operation: 'delete a batch of entities',
        deletes: open.length,
        onUnclear: () => onUnclear(open),
      });
      if (settled.kind === 'gave-up') {
        const problem = problemOfFailure(settled.failure);
        for (const id of open) report(id, { kind: 'retryable', problem });
        return DONE;
      }
      const verdict = readBatchReply(settled.reply, open);
      if (verdict.kind === 'no-batch') return withoutBatches(open, settled.reply, report);
      if (verdict.kind === 'refused') return halve(open, verdict.problem, report);
      batchAccepted = true;
      onUnclear([...verdict.items].filter(([, item]) => isUnclear(item)).map(([id]) => id));
      const retryable = [...verdict.items].filter(([, item]) => item.kind === 'retryable');
      for (const [id, item] of verdict.items) if (item.kind !== 'retryable') report(id, item);
      const last = retryable.at(-1)?.[1];
      if (last?.kind !== 'retryable') return DONE;
      const failure = { kind: 'broker-error', status: last.problem.status, problem: last.problem } as const;
      if (!(await requester.pause(attempt, failure))) {
        for (const [id, item] of retryable) report(id, item);
        return DONE;
      }
      open = retryable.map(([id]) => id);
    }
  }

  async function inParts(ids: readonly string[], size: number, report: ReportResult): Promise<BatchEnd> {
    const parts: BatchEnd[] = [];
    for (let from = 0; from < ids.length; from += size) {
      parts.push(await deleteBatch(ids.slice(from, from + size), report));
    }
    return merge(parts);
  }

  function withoutBatches(ids: readonly string[], reply: BrokerReply, report: ReportResult): BatchEnd {
    // Where batches have worked, a bare 404 is the repeat of one whose answer was lost: all of it is gone already.
    if (batchAccepted && reply.status === 404) {
      for (const id of ids) report(id, ABSENT);
      return DONE;
    }
    if (strategy === 'batch') {
      throw new BrokerRefusedError('delete a batch of entities', parseBrokerProblem(reply));
    }
    capabilities.batchDelete = false;
    return { leftForSingle: ids, foundCulprit: false };
  }

  /** A refused batch is too large, or holds something the broker chokes on: halves find out which. */
  async function halve(
    ids: readonly string[],
    problem: BrokerProblem,
    report: ReportResult,
  ): Promise<BatchEnd> {
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) {
      culprits += 1;
      const verdict = strategy === 'batch' ? ({ kind: 'refused', problem } as const) : await deleteOne(only);
      // Refused in every batch but deleted singly: it is batches that this broker cannot do.
      const isGone = verdict.kind === 'deleted' || verdict.kind === 'absent';
      if (!batchAccepted && isGone) capabilities.batchDelete = false;
      report(only, verdict);
      return { leftForSingle: [], foundCulprit: true };
    }
    const half = Math.ceil(ids.length / 2);
    if (problem.status === 413) shrinkBatches(half);
    const left = await deleteBatch(ids.slice(0, half), report);
    const end = merge([left, await deleteBatch(ids.slice(half), report)]);
    // Nothing in it was at fault, so it was the size.
    if (batchAccepted && !end.foundCulprit) shrinkBatches(half);
    return end;
  }

  function shrinkBatches(size: number): void {
    capabilities.batchSizeMax = Math.min(size, capabilities.batchSizeMax ?? Infinity);
  }

  async function deleteOne(id: string): Promise<DeleteResult> {
    const viaBatch = async () => (usesBatches() ? batchOfOne(id) : undefined);
    const verdict = strategy === 'batch' ? await viaBatch() : undefined;
    if (verdict !== undefined) return verdict;
    const safe = await paths.safePathOf(id);
    return 'path' in safe ? viaPath(id, safe.path) : ((await viaBatch()) ?? safe.doubt);
  }

  async function viaPath(id: string, path: string): Promise<DeleteResult> {
    const operation = isTemporal ? 'delete a temporal entity' : 'delete an entity';
    const settled = await requester.send({
      ...{ method: 'DELETE', path, operation, item: id, deletes: 1 },
      onUnclear: () => onUnclear([id]),
    });
    if (settled.kind === 'gave-up') return { kind: 'retryable', problem: problemOfFailure(settled.failure) };
    const { reply } = settled;
    if (reply.status >= 200 && reply.status < 300) deletedSingly += 1;
    const verdict = readSingleReply(reply, id, operation);
    if (isUnclear(verdict)) onUnclear([id]);
    return verdict;
  }

  /** Undefined when the broker has no batch delete. */
  async function batchOfOne(id: string): Promise<DeleteResult | undefined> {
    const settled = await requester.send({
      method: 'POST',
      path: BATCH_PATH,
      jsonBody: JSON.stringify([id]),
      operation: 'delete an entity',
      deletes: 1,
      item: id,
      onUnclear: () => onUnclear([id]),
    });
    if (settled.kind === 'gave-up') return { kind: 'retryable', problem: problemOfFailure(settled.failure) };
    const verdict = readBatchReply(settled.reply, [id]);
    if (verdict.kind === 'no-batch') return undefined;
    if (verdict.kind === 'refused') return verdict;
    const item = verdict.items.get(id) ?? DELETED;
    if (isUnclear(item)) onUnclear([id]);
    return item;
  }

  return {
    deleteBatch: async (ids, report) => (await deleteBatch(ids, report)).leftForSingle,
    deleteOne,
    get deletedSingly() {
      return deletedSingly;
    },
    get usesBatches() {
      return usesBatches();
    },
    get batchSize() {
      return Math.min(options.batchSize, requester.burst, capabilities.batchSizeMax ?? Infinity);
    },
  };
}

function merge(parts: readonly BatchEnd[]): BatchEnd {
  return {
    leftForSingle: parts.flatMap((part) => part.leftForSingle),
    foundCulprit: parts.some((part) => part.foundCulprit),
  };
}

/** An error item that does not tell whether anything was done: the broker may have handed the delete on, in vain. */
function isUnclear(item: DeleteResult): boolean {
  return item.kind === 'unclear' || (item.kind === 'retryable' && item.problem.status >= 500);
}

/**
 * Reads the answer to the delete of one entity (clause 6.5.3.2). 404 is no failure: a delete whose answer was lost, or
 * another client, may have come before.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
function readSingleReply(reply: BrokerReply, id: string, operation: string): DeleteResult {
  if (reply.status === 405 || reply.status === 501) {
    throw new BrokerRefusedError(operation, parseBrokerProblem(reply));
  }
  if (reply.status === 404) return ABSENT;
  const verdict = readBatchReply(reply, [id]);
  if (verdict.kind === 'items') return verdict.items.get(id) ?? DELETED;
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}
