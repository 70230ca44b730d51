import { parseBrokerProblem, type BrokerProblem } from '../broker/broker-problem.js';
import type { BrokerCapabilities } from '../broker/capabilities.js';
import type { BrokerReply, Failure } from '../broker/outcome.js';
import { isSingleResourceDeletePath } from '../ngsi-ld/request-path.js';
import { readBatchReply, type ItemVerdict } from './batch-reply.js';
import { BrokerRefusedError } from './errors.js';
import { problemOfFailure } from './item-problem.js';
import type { Requester } from './requester.js';

/** What became of one item after its tries. */
export interface ItemOutcome {
  readonly id: string;
  readonly verdict: ItemVerdict;
}

/** Outcomes of a batch, and the ids that must go singly because the broker has no batch delete. */
export interface BatchOutcome {
  readonly outcomes: readonly ItemOutcome[];
  readonly leftForSingle: readonly string[];
  /** The broker refused a batch that held nothing but one id: it was that id, not the size. */
  readonly foundCulprit: boolean;
}

/** Deletes entities by batch or singly; knows nothing of where the ids come from. */
export interface Deleter {
  /** Deletes a batch, halving it where the broker refuses it. */
  deleteBatch(ids: readonly string[]): Promise<BatchOutcome>;
  /** Deletes one entity. */
  deleteOne(id: string): Promise<ItemOutcome>;
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
}

export function createDeleter(options: DeleterOptions): Deleter {
  const { requester, capabilities, strategy } = options;
  let batchAccepted = false;

  const usesBatches = () => strategy !== 'single' && (strategy === 'batch' || capabilities.batchDelete);

  async function deleteBatch(ids: readonly string[]): Promise<BatchOutcome> {
    if (!usesBatches()) return { outcomes: [], leftForSingle: ids, foundCulprit: false };
    const size = capabilities.batchSizeMax ?? Infinity;
    if (ids.length > size) return inParts(ids, size);

    const outcomes: ItemOutcome[] = [];
    let open = ids;
    for (let attempt = 1; ; attempt++) {
      const settled = await requester.send({
        method: 'POST',
        path: BATCH_PATH,
        jsonBody: JSON.stringify(open),
        operation: 'delete a batch of entities',
      });
      if (settled.kind === 'gave-up') {
        const { failure } = settled;
        return settledOutcome([...outcomes, ...open.map((id) => gaveUp(id, failure))]);
      }
      const verdict = readBatchReply(settled.reply, open);
      if (verdict.kind === 'no-batch') {
        if (strategy === 'batch') {
          throw new BrokerRefusedError('delete a batch of entities', parseBrokerProblem(settled.reply));
        }
        capabilities.batchDelete = false;
        return { outcomes, leftForSingle: open, foundCulprit: false };
      }
      if (verdict.kind === 'refused') {
        const rest = await halve(open, verdict.problem);
        return { ...rest, outcomes: [...outcomes, ...rest.outcomes] };
      }
      batchAccepted = true;
      const again: string[] = [];
      let problem: BrokerProblem | undefined;
      for (const [id, item] of verdict.items) {
        if (item.kind !== 'retryable') outcomes.push({ id, verdict: item });
        else {
          again.push(id);
          problem = item.problem;
        }
      }
      if (problem === undefined) return settledOutcome(outcomes);
      const failure = { kind: 'broker-error', status: problem.status, problem } as const;
      if (!(await requester.pause(attempt, failure))) {
        const spent = again.map((id) => ({ id, verdict: verdict.items.get(id) ?? CLAIMED_GONE }));
        return settledOutcome([...outcomes, ...spent]);
      }
      open = again;
    }
  }

  async function inParts(ids: readonly string[], size: number): Promise<BatchOutcome> {
    const parts: BatchOutcome[] = [];
    for (let from = 0; from < ids.length; from += size)
      parts.push(await deleteBatch(ids.slice(from, from + size)));
    return merge(parts);
  }

  /** A refused batch is too large, or holds something the broker chokes on: halves find out which. */
  async function halve(ids: readonly string[], problem: BrokerProblem): Promise<BatchOutcome> {
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) {
      if (strategy === 'batch') {
        return {
          ...settledOutcome([{ id: only, verdict: { kind: 'refused', problem } }]),
          foundCulprit: true,
        };
      }
      const outcome = await deleteOne(only);
      // Refused in every batch but deleted singly: it is batches that this broker cannot do.
      if (!batchAccepted && outcome.verdict.kind === 'claimed-gone') capabilities.batchDelete = false;
      return { ...settledOutcome([outcome]), foundCulprit: true };
    }
    const half = Math.ceil(ids.length / 2);
    if (problem.status === 413) shrinkBatches(half);
    const merged = merge([await deleteBatch(ids.slice(0, half)), await deleteBatch(ids.slice(half))]);
    if (batchAccepted && !merged.foundCulprit) shrinkBatches(half);
    return merged;
  }

  function shrinkBatches(size: number): void {
    capabilities.batchSizeMax = Math.min(size, capabilities.batchSizeMax ?? Infinity);
  }

  async function deleteOne(id: string): Promise<ItemOutcome> {
    const path = `/entities/${encodeURIComponent(id)}`;
    const isSafe = isSingleResourceDeletePath(`/ngsi-ld/v1${path}`);
    const viaBatch = strategy === 'batch' || (!isSafe && usesBatches());
    return (viaBatch ? await batchOfOne(id) : undefined) ?? (isSafe ? viaPath(id, path) : unaddressable(id));
  }

  async function viaPath(id: string, path: string): Promise<ItemOutcome> {
    const operation = 'delete an entity';
    const settled = await requester.send({ method: 'DELETE', path, operation, item: id });
    if (settled.kind === 'gave-up') return gaveUp(id, settled.failure);
    return { id, verdict: readSingleReply(settled.reply, id, operation) };
  }

  /** Undefined when the broker has no batch delete. */
  async function batchOfOne(id: string): Promise<ItemOutcome | undefined> {
    const settled = await requester.send({
      method: 'POST',
      path: BATCH_PATH,
      jsonBody: JSON.stringify([id]),
      operation: 'delete an entity',
      item: id,
    });
    if (settled.kind === 'gave-up') return gaveUp(id, settled.failure);
    const verdict = readBatchReply(settled.reply, [id]);
    if (verdict.kind === 'no-batch') return undefined;
    return { id, verdict: verdict.kind === 'refused' ? verdict : (verdict.items.get(id) ?? CLAIMED_GONE) };
  }

  return {
    deleteBatch,
    deleteOne,
    get usesBatches() {
      return usesBatches();
    },
    get batchSize() {
      return Math.min(options.batchSize, capabilities.batchSizeMax ?? Infinity);
    },
  };
}

function settledOutcome(outcomes: readonly ItemOutcome[]): BatchOutcome {
  return { outcomes, leftForSingle: [], foundCulprit: false };
}

function merge(parts: readonly BatchOutcome[]): BatchOutcome {
  return {
    outcomes: parts.flatMap((part) => part.outcomes),
    leftForSingle: parts.flatMap((part) => part.leftForSingle),
    foundCulprit: parts.some((part) => part.foundCulprit),
  };
}

const BATCH_PATH = '/entityOperations/delete';
const CLAIMED_GONE = { kind: 'claimed-gone' } as const;

function gaveUp(id: string, failure: Failure): ItemOutcome {
  return { id, verdict: { kind: 'retryable', problem: problemOfFailure(failure) } };
}

/** An id that sloppy servers could resolve to the collection never goes into a path. */
function unaddressable(id: string): ItemOutcome {
  const title = 'Id not addressable';
  const detail =
    'Decoded, the id resolves to another path, so it is not sent in one; the broker takes no batches.';
  return { id, verdict: { kind: 'refused', problem: { status: 400, title, detail } } };
}

/**
 * Reads the answer to the delete of one entity (clause 6.5.3.2): 404 counts as claimed gone, since a lost answer or
 * another client may have come before.
 */
function readSingleReply(reply: BrokerReply, id: string, operation: string): ItemVerdict {
  if (reply.status === 405 || reply.status === 501) {
    throw new BrokerRefusedError(operation, parseBrokerProblem(reply));
  }
  if (reply.status === 404) return CLAIMED_GONE;
  const verdict = readBatchReply(reply, [id]);
  if (verdict.kind === 'items') return verdict.items.get(id) ?? CLAIMED_GONE;
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}
