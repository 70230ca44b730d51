import { parseBrokerProblem, type BrokerProblem } from '../broker/broker-problem.js';
import { checkNames, walkItems, type AttributeItem } from './attribute-items.js';
import type { ItemVerdict } from './batch-reply.js';
import type { PurgeContext } from './context.js';
import { createDispatcher } from './dispatcher.js';
import type { Preview } from './dry-run.js';
import { BrokerRefusedError, BrokerReplyError, NotConvergingError, TooManyMatchesError } from './errors.js';
import { IdLedger, IdState } from './id-ledger.js';
import { problemOfFailure } from './item-problem.js';
import type { ListedPage } from './listing.js';
import type { AttributeRemoval } from './query.js';
import { resourcePath } from './resource-path.js';
import { keyOf } from './tally.js';

/** Passes over all matches after which a purge gives up; each but the last removes something. */
const PASSES_MAX = 50;

/** Passes that take new matches although nobody knows how many there were; later ones arrived meanwhile. */
const UNCOUNTED_PASSES_MAX = 10;

/** Looks at attributes claimed gone that are still listed, before they are reported: the query may lag behind. */
const LOOKS_MAX = 3;

const SAMPLE_MAX = 100;

/** Counts the attributes that a removal would reach; `sample` names their entities. */
export async function previewAttributes(context: PurgeContext, removal: AttributeRemoval): Promise<Preview> {
  await checkNames(context, removal);
  const sample = new Set<string>();
  const matched = await countItems(context, removal, (_count, items) => {
    for (const { entityId } of items) if (sample.size < SAMPLE_MAX) sample.add(entityId);
  });
  return { matched, sample: [...sample] };
}

/**
 * Removes attributes from every match, all their instances (clause 5.6.5), and pages forward meanwhile: the matches
 * remain. Passes over all matches are repeated until one finds nothing left to do, since an entity may stop matching
 * once its attribute is gone, and so move others to a page already read.
 *
 * @param total matches that the broker counted before, where it did
 * @returns attributes of matches that arrived meanwhile and were left
 * @throws TooManyMatchesError before the first removal when more attributes would go than may be affected
 * @throws BrokerReplyError when the broker counts matches that it does not list
 */
export async function removeAttributes(
  context: PurgeContext,
  removal: AttributeRemoval,
  total: number | undefined,
): Promise<number> {
  const { maxAffected } = context.limits;
  await checkNames(context, removal);
  if (maxAffected !== undefined) {
    await countItems(context, removal, (count) => {
      if (count > maxAffected) throw new TooManyMatchesError(count, maxAffected, false);
    });
  }
  const entities = new IdLedger();
  let looks = 0;
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    const expectsMore = total === undefined ? pass <= UNCOUNTED_PASSES_MAX : entities.size < total;
    const isLastLook = looks === LOOKS_MAX;
    const options = { takesNew: pass <= 2 || expectsMore, isLastLook };
    const known = entities.size;
    const { tried, left, lingering, counted } = await removeInOnePass(context, removal, entities, options);
    context.emit({ type: 'drained', matched: context.tally.matched });
    // In pages without a fixed order some entities are passed over, and met in a later pass.
    const hidden = Math.max(0, counted - entities.size);
    if (tried > 0 || (hidden > 0 && entities.size > known)) continue;
    if (lingering + hidden > 0 && !isLastLook) {
      looks += 1;
      await context.requester.waitBefore(looks);
      continue;
    }
    if (hidden > 0) throw new BrokerReplyError(`The broker counts ${hidden} more matches than it lists.`);
    return left;
  }
  throw new NotConvergingError(
    `Attributes keep turning up after ${PASSES_MAX} passes; send the purge again.`,
  );
}

interface PassResult {
  readonly tried: number;
  /** Attributes never seen before, and not taken. */
  readonly left: number;
  /** Attributes claimed gone twice, still listed, and not yet reported. */
  readonly lingering: number;
  /** Matches that the broker counted in the end; 0 when it listed all that it counts, or cannot count. */
  readonly counted: number;
}

async function removeInOnePass(
  context: PurgeContext,
  removal: AttributeRemoval,
  entities: IdLedger,
  { takesNew, isLastLook }: { readonly takesNew: boolean; readonly isLastLook: boolean },
): Promise<PassResult> {
  const { tally, limits } = context;
  let tried = 0;
  let left = 0;
  let lingering = 0;
  const dispatcher = createDispatcher<{ readonly item: AttributeItem; readonly isSecondTry: boolean }>({
    concurrency: limits.concurrency,
    chunkSize: () => 1,
    run: async (chunk) => {
      for (const { item, isSecondTry } of chunk) {
        tally.settle(item, await removeOne(context, item), isSecondTry);
        context.reportProgress();
      }
      return [];
    },
  });
  const isBehindStart = createArrivalsCheck();
  tally.ledger.startSurvey();
  entities.startSurvey();
  try {
    const end = await walkItems(context, removal, noteIn(entities), async (items, page) => {
      const takesPage = takesNew && !isBehindStart(page);
      for (const item of items) {
        const state = tally.ledger.get(keyOf(item));
        tally.ledger.markListed(keyOf(item));
        if (state === IdState.goneTwice && !isLastLook) lingering += 1;
        else if (state === IdState.goneTwice) tally.failListed(item, STILL_THERE);
        else if (state === IdState.unknown && !takesPage) left += 1;
        else if (state !== IdState.failed && state !== IdState.pending) {
          if (state === IdState.unknown) takeOne(context, item);
          tried += 1;
          dispatcher.add([{ item, isSecondTry: state !== IdState.unknown }]);
        }
      }
      await dispatcher.room(limits.concurrency * 4);
    });
    await dispatcher.settled();
    if (tried === 0 && end.complete) tally.forgetUnlisted();
    return { tried, left, lingering, counted: end.unlisted > 0 ? (end.lastCount ?? 0) : 0 };
  } catch (error) {
    context.requester.halt();
    await dispatcher.abandon();
    throw error;
  }
}

/**
 * Tells the pages that lie behind all matches counted when a pass began: they hold what has arrived since. Were those
 * taken too, a pass would have no end where matches arrive as fast as it goes on. A count that does not grow with what
 * is listed proves nothing.
 */
function createArrivalsCheck(): (page: ListedPage) => boolean {
  let atStart: number | undefined;
  let walked = 0;
  return ({ ids, count }) => {
    atStart ??= count;
    const before = walked;
    walked += ids.length;
    return atStart !== undefined && before >= atStart && count !== undefined && count >= walked;
  };
}

const STILL_THERE: BrokerProblem = {
  status: 409,
  title: 'Attribute still listed',
  detail: 'The broker answered two deletes as done, and still shows the attribute.',
};

function takeOne(context: PurgeContext, item: AttributeItem): void {
  const { tally, limits } = context;
  const affected = tally.ledger.size + 1;
  if (limits.maxAffected !== undefined && affected > limits.maxAffected) {
    throw new TooManyMatchesError(affected, limits.maxAffected, false);
  }
  tally.take(item);
  tally.ledger.markListed(keyOf(item));
}

/** Deletes one attribute with all its instances (clause 6.7.3.2). */
async function removeOne(context: PurgeContext, item: AttributeItem): Promise<ItemVerdict> {
  const path = resourcePath(item.entityId, item.attribute);
  const operation = 'delete an attribute';
  if (path === undefined) {
    const detail =
      'Decoded, the entity id or the attribute name resolves to another path, so it is not sent in one.';
    return { kind: 'refused', problem: { status: 400, title: 'Attribute not addressable', detail } };
  }
  const request = { method: 'DELETE', path: `${path}?deleteAll=true`, operation, item: keyOf(item) } as const;
  const settled = await context.requester.send(request);
  if (settled.kind === 'gave-up') return { kind: 'retryable', problem: problemOfFailure(settled.failure) };
  const { reply } = settled;
  if (reply.status === 404 || (reply.status < 300 && reply.status !== 207)) return { kind: 'claimed-gone' };
  const problem = parseBrokerProblem(reply);
  if (reply.status === 405 || reply.status === 501) throw new BrokerRefusedError(operation, problem);
  return { kind: reply.status === 207 ? 'unclear' : 'refused', problem };
}

/** Counts what a removal would reach, in one walk without a delete. */
async function countItems(
  context: PurgeContext,
  removal: AttributeRemoval,
  onPage: (count: number, items: readonly AttributeItem[]) => void,
): Promise<number> {
  let count = 0;
  const entities = new IdLedger();
  entities.startSurvey();
  await walkItems(context, removal, noteIn(entities), (items) => {
    count += items.length;
    onPage(count, items);
  });
  return count;
}

/** Notes entities in a ledger; true for each one's first listing in the current survey. */
function noteIn(entities: IdLedger): (entityId: string) => boolean {
  return (entityId) => {
    if (entities.get(entityId) === IdState.unknown) entities.set(entityId, IdState.pending);
    return entities.markListed(entityId);
  };
}
