import {
  RepeatedTries,
  MAX_RECHECKS,
  resolveUnclear,
  resolveUnclearAtEnd,
  selectsByValue,
  type ItemKind,
} from '../deleting/index.js';
import { BrokerReplyError, NotConvergingError } from '../errors.js';
import { IdStates } from '../ledger/index.js';
import type { PageShape } from '../listing/index.js';
import type { PurgeContext, QueryView } from '../run/index.js';
import { ItemPass } from './item-pass.js';

/** Maximum number of full passes over all matches, after which the purge gives up. */
const MAX_FULL_PASSES = 50;

/** Number of passes that take new matches if there is no count; later ones arrived during the purge. */
const MAX_UNCOUNTED_PASSES = 10;

/** Maximum number of passes, truncated ones included. Reached only if items arrive as fast as they are deleted. */
const MAX_PASSES = 100_000;

/** Number of passes after which items are skipped if their times show that they arrived during the purge. */
const MAX_PASSES_WITH_ARRIVALS = 10;

const SAME_PAGE = 'The broker shows the same page for every offset and gives no count, so there may be more.';

/** Size of a page in seconds of the rate. */
const PAGE_SECONDS = 1.5;

/**
 * Removes items from every match in passes, until a pass finds nothing to do. An entity may stop matching once its items are
 * gone, which moves others to earlier pages.
 *
 * Whole entities are deleted in rounds of listing and deleting instead (entities/drain.ts): a deleted entity leaves the list,
 * which would shift the pages of a walk. Entities that lose a part mostly stay where they are, so their pages can be walked
 * during the deletes.
 *
 * @param total the broker's count of matches, if trusted
 * @returns how many items arrived during the purge and were left, without those that were made again
 * @throws BrokerReplyError if the broker counts matches that it does not list
 */
export async function removeItems(
  context: PurgeContext,
  kind: ItemKind,
  total: number | undefined,
): Promise<number> {
  context.ledger.forgetUnclear();
  try {
    return await removeInPasses(context, kind, total);
  } catch (error) {
    await resolveUnclearAtEnd(context, kind);
    throw error;
  }
}

async function removeInPasses(
  context: PurgeContext,
  kind: ItemKind,
  total: number | undefined,
): Promise<number> {
  const entities = new IdStates();
  const cuts = new RepeatedTries();
  let rechecks = 0;
  let wholePasses = 0;
  let trusted = total;
  for (let pass = 1; wholePasses < MAX_FULL_PASSES && pass < MAX_PASSES; pass++) {
    const expectsMore = trusted === undefined ? pass <= MAX_UNCOUNTED_PASSES : entities.size < trusted;
    const isLastRecheck = rechecks === MAX_RECHECKS;
    // Take new items in the first two full passes; later ones arrived during the purge.
    const takesNew = wholePasses < 2 || expectsMore;
    const shape = shapeOf(context, kind, pass > 1 && kind.mayComeBack);
    const skipsArrivals = pass > MAX_PASSES_WITH_ARRIVALS;
    const known = entities.size;
    const options = { entities, cuts, takesNew, isLastRecheck, skipsArrivals, shape };
    const done = new ItemPass(context, kind, options);
    await done.run();
    context.emit({ type: 'drained', matched: context.ledger.matched });
    if (!done.wasTruncated) wholePasses += 1;
    if (done.hidesSome) trusted = undefined;
    // Pages without a fixed order skip some entities; a later pass finds them.
    const hidden = Math.max(0, done.counted - entities.size);
    if (done.tried > 0 || done.unsent > 0 || (hidden > 0 && entities.size > known)) continue;
    if (done.lingering + hidden > 0 && !isLastRecheck) {
      rechecks += 1;
      await context.requester.waitBeforeCheck(rechecks);
      continue;
    }
    if (hidden > 0) throw new BrokerReplyError(`The broker counts ${hidden} more matches than it lists.`);
    if (kind.beginSecondWalk?.() === true) continue;
    const isCut = !done.hasShownAll && !done.wasTruncated;
    if (isCut && context.paging.ignoresOffset === true) context.warn(SAME_PAGE);
    context.ledger.resolveBySurvey(done.hasShownAll && showsAllThatIsLeft(context));
    await resolveUnclear(context, kind);
    for await (const { error, ...item } of kind.hiddenItems?.() ?? [])
      context.ledger.recordStillListed(item, error);
    return done.left;
  }
  throw new NotConvergingError('Every pass finds more items to delete. Send the purge again.');
}

/**
 * Returns how much of a page to ask for. With a rate, this is no more than can be deleted before it gets too old.
 *
 * @param needsTimes ask for the times of creation as well
 */
function shapeOf(
  { requester, limits }: PurgeContext,
  kind: ItemKind,
  needsTimes: boolean,
): (() => PageShape) | undefined {
  const most = Math.ceil(requester.burst * PAGE_SECONDS);
  const isPaced = most < limits.pageSize;
  if (!isPaced && !needsTimes && kind.shape === undefined) return undefined;
  return () => {
    const asked = kind.shape?.() ?? {};
    const limit = isPaced ? { limit: Math.min(asked.limit ?? limits.pageSize, most) } : {};
    return { ...asked, ...limit, ...(needsTimes ? { needsTimes } : {}) };
  };
}

/**
 * Whether an item that the query does not show is gone. It may not be if the query selects by attribute values, because its
 * entity may have stopped matching.
 */
function showsAllThatIsLeft({ selection, showsAll }: QueryView): boolean {
  return showsAll && !selectsByValue(selection);
}
