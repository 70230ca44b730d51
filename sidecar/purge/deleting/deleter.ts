import {
  parseBrokerProblem,
  type BrokerProblem,
  failureIn,
  readBatchReply,
  type DeleteResult,
  type BrokerReply,
} from '../broker/index.js';
import { BrokerRefusedError } from '../errors.js';
import { problemOfFailure } from '../ledger/index.js';
import { safePathOf } from '../proof/index.js';
import { StaleListError, MustSplitError, type PurgeRequest, type RequestResult } from '../requests/index.js';
import type { PurgeContext } from '../run/index.js';

/** A purge that deletes whole entities, and the deleter that it uses from its first delete to its last. */
export type DeletingContext = PurgeContext & { readonly deleter: Deleter };

/** Receives each result as soon as it is known, so that it counts even if the purge fails right after. */
export type ReportResult = (id: string, result: DeleteResult) => void;

/** What accompanies the ids of a batch, and what remains of it besides the reported results. */
interface BatchOrder {
  readonly report: ReportResult;
  readonly isStale: () => boolean;
  readonly leftForSingle: string[];
  /** Batches of a single id that the broker refused: the id was the reason, not the size. */
  culprits: number;
}

/** A batch on its way: some of its ids may have to be sent again. */
interface Batch {
  ids: readonly string[];
  /** An earlier try had no clear answer, so what it asked for may be gone. */
  mayBeGone: boolean;
}

const BATCH_PATH = '/entityOperations/delete';
const DELETED: DeleteResult = { kind: 'deleted' };
const ABSENT: DeleteResult = { kind: 'absent' };
const UNSENT: DeleteResult = { kind: 'unsent' };

/** After this many refused ids without an accepted batch, the broker is considered to refuse batches. */
const MAX_CULPRITS = 10;

/** Deletes the entities of one purge by batch or singly. Temporal entities have no batch delete. */
export class Deleter {
  readonly #context: PurgeContext;
  /** Ids whose paths were proven. */
  readonly #proven = new Set<string>();
  readonly #strategy: 'auto' | 'batch' | 'single';
  readonly #isTemporal: boolean;
  #batchAccepted = false;
  #culprits = 0;

  constructor(context: PurgeContext) {
    const { resource, limits } = context;
    this.#context = context;
    this.#strategy = limits.strategy === 'native' ? 'auto' : limits.strategy;
    this.#isTemporal = resource.path === '/temporal/entities';
  }

  /** Whether batches are worth sending. */
  get usesBatches(): boolean {
    if (this.#isTemporal || this.#strategy === 'single') return false;
    if (this.#strategy === 'batch') return true;
    return (
      this.#context.capabilities.get('no-batch') !== true &&
      (this.#batchAccepted || this.#culprits < MAX_CULPRITS)
    );
  }

  /** Maximum number of ids that one batch may currently have. */
  get batchSize(): number {
    return Math.min(this.#context.limits.batchSize, this.#sizeMax);
  }

  /**
   * Deletes a batch, halving it if the broker refuses it.
   *
   * @param isStale whether it was listed too long ago; ids that are not sent for this reason are not reported
   * @returns the ids left to be deleted singly, because the broker has no batch delete
   */
  async deleteBatch(
    ids: readonly string[],
    report: ReportResult,
    isStale: () => boolean,
  ): Promise<readonly string[]> {
    const kept = await this.#archived(ids, report);
    if (kept.length === 0) return [];
    const order: BatchOrder = { report, isStale, leftForSingle: [], culprits: 0 };
    await this.#delete({ ids: kept, mayBeGone: false }, order);
    return order.leftForSingle;
  }

  async deleteOne(id: string, isStale: () => boolean): Promise<DeleteResult> {
    let refused: DeleteResult | undefined;
    await this.#archived([id], (_id, result) => (refused = result));
    if (refused !== undefined) return refused;
    try {
      const inBatch = this.#strategy === 'batch' ? await this.#batchOfOne(id, isStale) : undefined;
      if (inBatch !== undefined) return inBatch;
      const safe = await safePathOf(this.#context, id, this.#proven);
      if ('path' in safe) return await this.#viaPath(id, safe.path, isStale);
      return (await this.#batchOfOne(id, isStale)) ?? safe.doubt;
    } catch (error) {
      if (error instanceof StaleListError) return UNSENT;
      throw error;
    }
  }

  /**
   * Returns the entities that may be deleted as far as the archive of the purge is concerned, if there is one. The others are
   * reported as refused.
   */
  async #archived(ids: readonly string[], report: ReportResult): Promise<readonly string[]> {
    const { archiving } = this.#context;
    if (archiving === undefined) return ids;
    return archiving.release(ids, (id, problem) => report(id, { kind: 'refused', problem }));
  }

  get #sizeMax(): number {
    const { requester, capabilities } = this.#context;
    return Math.min(requester.maxPerRequest, capabilities.get('batch-max') ?? Infinity);
  }

  async #delete(batch: Batch, order: BatchOrder): Promise<void> {
    if (!this.usesBatches) order.leftForSingle.push(...batch.ids);
    else if (batch.ids.length > this.#sizeMax) await this.#inParts(batch, order);
    else await this.#inOne(batch, order);
  }

  async #inOne(batch: Batch, order: BatchOrder): Promise<void> {
    const { report, isStale } = order;
    let failed: (readonly [string, DeleteResult])[] = [];
    for (let attempt = 1; ; attempt++) {
      let settled: RequestResult;
      try {
        settled = await this.#send(batch, 'delete a batch of entities', isStale);
      } catch (error) {
        if (error instanceof MustSplitError) return this.#inParts(batch, order);
        if (!(error instanceof StaleListError)) throw error;
        for (const [id, item] of failed) report(id, { ...item, isCutShort: true } as DeleteResult);
        return;
      }
      if (settled.kind === 'gave-up') {
        const result = givenUp(settled);
        for (const id of batch.ids) report(id, result);
        return;
      }
      const answer = readBatchReply(settled.reply, batch.ids);
      if (answer.kind === 'no-batch') {
        this.#withoutBatches(batch, settled.reply, order);
        return;
      }
      if (answer.kind === 'refused') return this.#halve(batch.ids, answer.problem, order);
      this.#batchAccepted = true;
      failed = [];
      for (const [id, item] of answer.items) {
        if (isUnclear(item)) this.#markUnclear([id]);
        if (item.kind === 'retryable') failed.push([id, item]);
        else report(id, item);
      }
      if (failed.length === 0) return;
      if (!(await this.#context.requester.pause(attempt))) {
        for (const [id, item] of failed) report(id, item);
        return;
      }
      batch.ids = failed.map(([id]) => id);
    }
  }

  async #inParts({ ids, mayBeGone }: Batch, order: BatchOrder): Promise<void> {
    let rest = ids;
    while (rest.length > 0) {
      // The rate may change between two parts.
      const size = this.#sizeMax;
      await this.#delete({ ids: rest.slice(0, size), mayBeGone }, order);
      rest = rest.slice(size);
    }
  }

  #withoutBatches({ ids, mayBeGone }: Batch, reply: BrokerReply, order: BatchOrder): void {
    // If batches have worked before, a bare 404 answers the repeat of a batch whose answer was lost: all its ids are gone.
    if (this.#batchAccepted && reply.status === 404) {
      for (const id of ids) order.report(id, ABSENT);
      return;
    }
    const problem = parseBrokerProblem(reply);
    if (this.#strategy === 'batch' && mayBeGone && reply.status === 404) {
      // The 404 means the same, unless the broker has no batch delete. The next query shows which; what it still lists is sent
      // once more.
      for (const id of ids) order.report(id, { kind: 'retryable', problem });
      return;
    }
    if (this.#strategy === 'batch') throw new BrokerRefusedError('delete a batch of entities', problem);
    this.#context.capabilities.learn('no-batch', true);
    order.leftForSingle.push(...ids);
  }

  /** Halves a refused batch, to find out whether its size or one of its ids was the reason. */
  async #halve(ids: readonly string[], problem: BrokerProblem, order: BatchOrder): Promise<void> {
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) {
      this.#culprits += 1;
      order.culprits += 1;
      const result: DeleteResult =
        this.#strategy === 'batch' ? { kind: 'refused', problem } : await this.deleteOne(only, order.isStale);
      // An id that is refused in every batch but deleted singly shows that this broker cannot do batches. An absent id shows
      // nothing: somebody else may have deleted it.
      if (!this.#batchAccepted && result.kind === 'deleted')
        this.#context.capabilities.learn('no-batch', true);
      order.report(only, result);
      return;
    }
    const culpritsBefore = order.culprits;
    const half = Math.ceil(ids.length / 2);
    if (problem.status === 413) this.#context.capabilities.learn('batch-max', half);
    await this.#delete({ ids: ids.slice(0, half), mayBeGone: false }, order);
    await this.#delete({ ids: ids.slice(half), mayBeGone: false }, order);
    // None of the ids was the reason, so the size was.
    if (this.#batchAccepted && order.culprits === culpritsBefore)
      this.#context.capabilities.learn('batch-max', half);
  }

  /** Deletes one entity by a batch of one; undefined if the broker has no batch delete. */
  async #batchOfOne(id: string, isStale: () => boolean): Promise<DeleteResult | undefined> {
    if (!this.usesBatches) return undefined;
    const settled = await this.#send({ ids: [id], mayBeGone: false }, 'delete an entity', isStale, id);
    if (settled.kind === 'gave-up') return givenUp(settled);
    const answer = readBatchReply(settled.reply, [id]);
    if (answer.kind === 'no-batch') return undefined;
    if (answer.kind === 'refused') return answer;
    const item = answer.items.get(id) ?? DELETED;
    if (isUnclear(item)) this.#markUnclear([id]);
    return item;
  }

  async #viaPath(id: string, path: string, isStale: () => boolean): Promise<DeleteResult> {
    const operation = this.#isTemporal ? 'delete a temporal entity' : 'delete an entity';
    const settled = await this.#context.requester.send({
      method: 'DELETE',
      path,
      operation,
      item: id,
      deletes: 1,
      isStale,
      onSend: () => this.#context.ledger.addNew([id]),
      onUnclear: () => this.#markUnclear([id]),
    });
    if (settled.kind === 'gave-up') return givenUp(settled);
    const { reply } = settled;
    const result = readSingleReply(reply, id, operation);
    // If a delete failed in part, the other part may have had an effect.
    if (isUnclear(result) || (reply.status === 207 && result.kind === 'refused')) this.#markUnclear([id]);
    return result;
  }

  async #send(
    batch: Batch,
    operation: string,
    isStale: () => boolean,
    item?: PurgeRequest['item'],
  ): Promise<RequestResult> {
    const { ids } = batch;
    return this.#context.requester.send({
      method: 'POST',
      path: BATCH_PATH,
      jsonBody: JSON.stringify(ids),
      operation,
      deletes: ids.length,
      isStale,
      item,
      onSend: () => this.#context.ledger.addNew(ids),
      onUnclear: () => {
        batch.mayBeGone = true;
        this.#markUnclear(ids);
      },
    });
  }

  #markUnclear(ids: readonly string[]): void {
    for (const entityId of ids) this.#context.ledger.markUnclear({ entityId });
  }
}

/** Returns the result of an item whose request was given up. */
export function givenUp({ failure, isCutShort }: Extract<RequestResult, { kind: 'gave-up' }>): DeleteResult {
  const problem = problemOfFailure(failure);
  return { kind: 'retryable', problem, ...(isCutShort === true ? { isCutShort } : {}) };
}

/** Whether the delete may have had an effect, because the broker may have failed after forwarding it. */
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
  if (reply.status === 405 || reply.status === 501)
    throw new BrokerRefusedError(operation, parseBrokerProblem(reply));
  if (reply.status === 404) return ABSENT;
  const failure = failureIn(reply);
  if (failure !== undefined) return failure;
  const answer = readBatchReply(reply, [id]);
  if (answer.kind === 'items') return answer.items.get(id) ?? DELETED;
  return { kind: 'refused', problem: parseBrokerProblem(reply) };
}
