import type { DeleteResult } from '../broker/index.js';
import {
  Dispatcher,
  isCreatedBefore,
  isHopeless,
  isStaleSince,
  keepParts,
  selectsByValue,
  walkItems,
  type RepeatedTries,
  type ItemBatch,
  type ItemKind,
} from '../deleting/index.js';
import { IdState, IdStates, isGone, keyOf, type Item } from '../ledger/index.js';
import type { ListedPage, PageShape } from '../listing/index.js';
import type { HistoryArchive, PurgeContext } from '../run/index.js';

/** Deletes between two progress reports; one for each would double the bookkeeping. */
const DELETES_PER_REPORT = 20;

/** Maximum number of failed items to remember for their final retry; others are retried when they are listed again. */
const MAX_FINAL_RETRIES = 10_000;

const SETTLED: ReadonlySet<IdState> = new Set([IdState.failed, IdState.madeAgain]);

export interface PassOptions {
  /** Entities that the passes have met. */
  readonly entities: IdStates;
  readonly takesNew: boolean;
  /** Record items as failed that count as gone and are still listed. */
  readonly isLastRecheck: boolean;
  readonly skipsArrivals: boolean;
  /** Final tries of the purge that were cut short. */
  readonly cuts: RepeatedTries;
  /** How much of a page to ask for. */
  readonly shape: (() => PageShape) | undefined;
}

interface PendingDelete {
  readonly item: Item;
  readonly isFinalTry: boolean;
  readonly isStale: () => boolean;
}

/** One pass over all matches: lists their items and deletes them at the same time. */
export class ItemPass {
  tried = 0;
  /** Items that were listed too long ago when their turn came; the next pass lists them again. */
  unsent = 0;
  /** New items that were not taken. */
  left = 0;
  /** Items that count as gone, are still listed, and are not yet recorded as failed. */
  lingering = 0;
  /** The broker's last count; 0 if it listed all matches, or gives no count. */
  counted = 0;
  /** Whether the broker counts matches that it does not show. */
  hidesSome = false;
  /** Whether the broker may have left out items. */
  #isTruncated = false;
  #isComplete = false;
  readonly #context: PurgeContext;
  readonly #kind: ItemKind;
  readonly #options: PassOptions;
  readonly #dispatcher: Dispatcher<readonly PendingDelete[]>;
  readonly #dueAgain: PendingDelete[] = [];
  /** Keys of the items that are queued or in flight. */
  readonly #queued = new Set<string>();
  /**
   * Whether the query selects by value. If so, it may not list the other items of an entity again once one is gone, so they are
   * deleted together, however old their list gets.
   */
  readonly #isByValue: boolean;
  /** Entities of which a delete was sent in this pass. */
  readonly #begun = new IdStates();
  readonly #isBehindStart = createArrivalsCheck();

  constructor(context: PurgeContext, kind: ItemKind, options: PassOptions) {
    this.#context = context;
    this.#kind = kind;
    this.#options = options;
    this.#isByValue = selectsByValue(context.selection);
    this.#dispatcher = this.#dispatcherOf(async (next) => this.#remove(next));
  }

  /** Whether items may be missing that the next pass would list. */
  get wasTruncated(): boolean {
    return this.#isTruncated || this.unsent > 0;
  }

  /** Whether items that were not listed are gone. */
  get hasShownAll(): boolean {
    return this.#isComplete && !this.wasTruncated;
  }

  async run(): Promise<void> {
    const { requester, ledger, limits } = this.#context;
    ledger.states.startSurvey();
    try {
      const { entities, shape } = this.#options;
      const most = this.#kind.pendingMax ?? limits.concurrency * 4;
      const reader: Pick<ItemKind, 'read' | 'shape'> = {
        read: (page, indexes) => this.#kind.read(page, indexes),
        ...(shape === undefined ? {} : { shape }),
      };
      const end = await walkItems(this.#context, reader, entities, async (batch, page) => {
        for (const due of this.#portionsOf(this.#take(batch, page))) {
          this.#dispatcher.add(this.#inTurn(await this.#archived(due, batch, page)));
          await this.#dispatcher.settled(most);
        }
      });
      await this.#dispatcher.settled();
      this.#context.reportProgress();
      await this.#retry();
      this.counted = end.unlisted > 0 ? (end.lastCount ?? 0) : 0;
      this.hidesSome = end.hidesSome === true;
      this.#isComplete = end.complete;
    } catch (error) {
      requester.halt();
      await this.#dispatcher.abandon();
      throw error;
    }
  }

  /** Splits items into portions that are archived together, and then deleted. */
  *#portionsOf(due: readonly PendingDelete[]): Iterable<readonly PendingDelete[]> {
    const { histories } = this.#context;
    if (histories === undefined) {
      yield due;
      return;
    }
    for (let at = 0, next: number; at < due.length; at = next) {
      next = at + histories.most;
      yield due.slice(at, next);
    }
  }

  /** If the purge archives, archives what is to be deleted. Returns what may be deleted. */
  async #archived(
    due: readonly PendingDelete[],
    batch: ItemBatch,
    page: ListedPage,
  ): Promise<readonly PendingDelete[]> {
    const { archiving, ledger, histories } = this.#context;
    if (archiving === undefined || due.length === 0) return due;
    const byKey = new Map(due.map((next) => [keyOf(next.item), next]));
    if (histories !== undefined) await this.#keepHistories(histories, byKey);
    else {
      const contents = batch.items.map((item, index) =>
        byKey.has(keyOf(item)) ? batch.contents?.[index] : undefined,
      );
      await keepParts(this.#context, page, { items: batch.items, contents });
    }
    const kept = await archiving.release([...byKey.keys()], (key, problem) => {
      const item = byKey.get(key)?.item;
      this.#queued.delete(key);
      // As if tried: whether it is still there, only the next pass shows.
      this.tried += 1;
      if (item !== undefined) ledger.recordFailure(item, problem);
    });
    return kept.flatMap((key) => byKey.get(key) ?? []);
  }

  /** Archives histories. Leaves in `due` only what the query still shows, to be deleted while what was read is recent. */
  async #keepHistories(histories: HistoryArchive, due: Map<string, PendingDelete>): Promise<void> {
    const { items, listed } = await histories.keep([...due.values()].map(({ item }) => item));
    const isStale = isStaleSince(this.#context.clock, listed);
    const shown = new Set(items.map(keyOf));
    for (const [key, next] of due)
      if (shown.has(key)) due.set(key, { ...next, isStale });
      else {
        due.delete(key);
        this.#queued.delete(key);
        this.unsent += 1;
      }
  }

  /** Returns which items of a page are to be deleted, and marks them as queued. */
  #take({ items, listed, mayHideMore = false }: ItemBatch, page: ListedPage): readonly PendingDelete[] {
    const due: PendingDelete[] = [];
    const { states } = this.#context.ledger;
    const { takesNew, isLastRecheck } = this.#options;
    this.#isTruncated ||= mayHideMore;
    const isOld = isStaleSince(this.#context.clock, listed ?? page);
    // Items that deletes have uncovered existed before.
    const takesPage = (takesNew || mayHideMore) && !this.#isBehindStart(page);
    for (const item of items) {
      const key = keyOf(item);
      const state = states.get(key);
      states.markListed(key);
      if (isGone(state) && this.#kind.mayComeBack && this.#isLeft(item)) continue;
      if (state === IdState.goneTwice || state === IdState.absentTwice) {
        if (isLastRecheck) this.#context.ledger.recordStillListed(item, this.#kind.stillThere);
        else this.lingering += 1;
      } else if (state === IdState.unknown && !(takesPage && this.#takes(item))) this.left += 1;
      else if (!SETTLED.has(state) && !this.#queued.has(key)) {
        this.#queued.add(key);
        const isFinalTry = state !== IdState.unknown && state !== IdState.pending;
        const isStale = () => isOld() && this.#begun.get(item.entityId) === IdState.unknown;
        due.push({ item, isFinalTry, isStale });
      }
    }
    return due;
  }

  #takes(item: Item): boolean {
    if (this.#context.plan?.has(keyOf(item)) === false) return false;
    return !this.#options.skipsArrivals || this.#kind.hasArrived?.(item) !== true;
  }

  /**
   * Whether an item that exists again under the name of a deleted one is left alone: it was created since or, with a maximum,
   * may have been. Otherwise its delete had no effect.
   */
  #isLeft(item: Item): boolean {
    const { ledger, limits } = this.#context;
    const createdAt = item.time?.['createdAt'];
    if (createdAt !== undefined && !isCreatedBefore(this.#context, createdAt)) {
      ledger.markMadeAgain(item);
      return true;
    }
    if (createdAt !== undefined || limits.maxAffected === undefined) return false;
    if (this.#options.isLastRecheck) ledger.recordStillListed(item, this.#kind.stillThere);
    else this.lingering += 1;
    return true;
  }

  async #remove(next: PendingDelete): Promise<void> {
    const { item, isFinalTry, isStale } = next;
    const { ledger } = this.#context;
    ledger.checkRoomFor(item);
    const onSend = () => {
      if (this.#isByValue) this.#begun.set(item.entityId, IdState.pending);
    };
    const result: DeleteResult = isStale()
      ? { kind: 'unsent' }
      : await this.#kind.remove(item, isStale, onSend);
    this.#queued.delete(keyOf(item));
    if (result.kind === 'unsent') {
      this.unsent += 1;
      return;
    }
    this.tried += 1;
    ledger.record(item, result, isFinalTry && !this.#isDueAfterCut(item, result));
    const isDueAgain = !isFinalTry && (result.kind === 'retryable' || result.kind === 'unclear');
    if (isDueAgain && this.#dueAgain.length < MAX_FINAL_RETRIES) this.#dueAgain.push(next);
    if (this.tried % DELETES_PER_REPORT === 0) this.#context.reportProgress();
  }

  /**
   * Retries the items that failed for a reason that may pass, and whose list is not too old. They may never be listed again:
   * with one of its items gone, an entity may no longer match.
   */
  async #retry(): Promise<void> {
    const { ledger, requester } = this.#context;
    const isDue = (item: Item) => ledger.states.get(keyOf(item)) === IdState.retryDue;
    const due = this.#dueAgain.filter(({ item }) => isDue(item));
    const dispatcher = this.#dispatcherOf(async ({ item, isStale }) => {
      const result = await this.#kind.remove(item, isStale);
      ledger.record(item, result, !this.#isDueAfterCut(item, result));
      this.#context.reportProgress();
    });
    try {
      dispatcher.add(this.#inTurn(due));
      await dispatcher.settled();
    } catch (error) {
      await dispatcher.abandon();
      if (!isHopeless(error)) throw error;
      // These items are reported as failed. The next query shows whether the broker still answers.
      requester.resetFailures();
      const status = error.failure.status ?? 502;
      const problem = { status, title: 'The broker did not delete the item', detail: error.message };
      for (const { item } of due) if (isDue(item)) ledger.recordFailure(item, problem);
    }
  }

  /** Whether an item may be tried once more, because its final try was cut short: its list had got too old. */
  #isDueAfterCut(item: Item, result: DeleteResult): boolean {
    return result.kind === 'retryable' && result.isCutShort === true && this.#options.cuts.note(keyOf(item));
  }

  /**
   * Groups deletes. Groups may be in flight at the same time; the deletes of a group are sent one after the other. A broker
   * that reads an entity, removes an attribute and writes the rest loses one of two simultaneous deletes, and confirms both.
   */
  #inTurn(due: readonly PendingDelete[]): readonly (readonly PendingDelete[])[] {
    // There are many instances, and they are stored separately.
    if (!this.#kind.mayComeBack) return due.map((next) => [next]);
    const groups = new Map<string, PendingDelete[]>();
    for (const next of due) {
      const group = groups.get(next.item.entityId);
      if (group === undefined) groups.set(next.item.entityId, [next]);
      else group.push(next);
    }
    return [...groups.values()];
  }

  #dispatcherOf(remove: (next: PendingDelete) => Promise<void>): Dispatcher<readonly PendingDelete[]> {
    return new Dispatcher<readonly PendingDelete[]>({
      concurrency: () => this.#context.limits.concurrency,
      run: async ([group = []]) => {
        for (const next of group) await remove(next);
        return [];
      },
    });
  }
}

/**
 * Returns a check for pages beyond the matches counted when the pass began: their entities arrived later. Taking those too
 * would never end if matches arrive as fast as the pass proceeds. A count that does not grow with them proves nothing.
 */
function createArrivalsCheck(): (page: ListedPage) => boolean {
  let atStart: number | undefined;
  let walked = 0;
  let last: { readonly page: ListedPage; readonly isBehind: boolean } | undefined;
  return (page) => {
    // A page may come in several batches.
    if (last?.page === page) return last.isBehind;
    const { ids, count } = page;
    atStart ??= count;
    const before = walked;
    walked += ids.length;
    const isBehind = atStart !== undefined && before >= atStart && count !== undefined && count >= walked;
    last = { page, isBehind };
    return isBehind;
  };
}
