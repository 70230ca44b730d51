import {
  type EntityPurgeQuery,
  listEntities,
  type MatchPage,
  type RateLimiter,
  type PurgeDependencies,
  type PurgeOrder,
  type PurgeReport,
  PurgeStoppedError,
} from '../purge/index.js';
import type { ScanJudge } from '../schemas/models/index.js';
import type { FoundEntities } from '../store/index.js';
import type { ScanResults } from './scan-results.js';

export interface ScanOrder extends Pick<
  PurgeOrder<EntityPurgeQuery>,
  'query' | 'headers' | 'limits' | 'onEvent'
> {
  /** Limits how many entities are judged per second; can be changed while the scan runs. */
  readonly rateLimiter: RateLimiter;
  /** Maximum number of entities to judge. */
  readonly sample?: number | undefined;
  readonly judge: Pick<ScanJudge, 'judge' | 'readIds'>;
  readonly results: ScanResults;
  /** Called after each verdict, with the entities to keep. */
  readonly onJudged: (found: readonly FoundEntities[]) => Promise<void>;
}

/** Number of pages judged at the same time, each by a worker. */
const MAX_CONCURRENT_PAGES = 2;

/** Maximum number of invalid entities of one page that are reported individually. */
const MAX_REPORTED = 1000;

/**
 * Lists the matches of a query and judges them.
 *
 * @throws PurgeStoppedError if the signal aborts, and what listing and judging throw
 */
export async function runScan(
  order: ScanOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): Promise<PurgeReport> {
  const { query, headers, limits, onEvent, sample = Infinity } = order;
  const sampleComplete = new AbortController();
  const stop = AbortSignal.any([signal, sampleComplete.signal]);
  const pageJudge = new PageJudge(order, stop);
  let judged = 0;
  const onPage = async (page: MatchPage): Promise<boolean> => {
    const indexes = page.fresh.slice(0, sample - judged);
    judged += indexes.length;
    await pageJudge.add(page, indexes);
    return judged < sample;
  };
  try {
    const readIds = (text: string) => order.judge.readIds(text, stop);
    const listing = { query, headers, limits, readIds, onPage, onEvent };
    const report = await listEntities(listing, dependencies, stop);
    await pageJudge.finish();
    return report;
  } catch (error) {
    if (signal.aborted && !(error instanceof PurgeStoppedError))
      throw new PurgeStoppedError('The scan was stopped.', { cause: error });
    throw error;
  } finally {
    sampleComplete.abort();
    // No judging may be running when the end of the scan is recorded.
    await pageJudge.settled();
  }
}

/** Returns the warnings for a scan that listed nothing, so that no entity was found invalid or valid. */
export function noMatchWarnings({ matched, hints = [] }: PurgeReport): readonly string[] {
  return matched > 0 ? [] : ['No entity matches the query, so nothing was judged.', ...hints];
}

/** Judges several pages at the same time, while the next ones are listed. */
class PageJudge {
  readonly #order: ScanOrder;
  readonly #signal: AbortSignal;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(order: ScanOrder, signal: AbortSignal) {
    this.#order = order;
    this.#signal = signal;
  }

  /** Begins to judge a page, as fast as the rate allows. @throws what judging an earlier page threw */
  async add(page: MatchPage, indexes: readonly number[]): Promise<void> {
    const { rateLimiter } = this.#order;
    for (let from = 0; from < indexes.length;) {
      const part = indexes.slice(from, from + Math.min(indexes.length, rateLimiter.burst));
      // The rate was lowered in the meantime, so a smaller part is taken.
      if (!(await rateLimiter.acquire(part.length, this.#signal))) continue;
      from += part.length;
      while (this.#running.size >= MAX_CONCURRENT_PAGES) await Promise.race(this.#running);
      this.#throwIfFailed();
      const work = this.#judge(page, part)
        .catch((error: unknown) => (this.#failure ??= { error }))
        .then(() => void this.#running.delete(work));
      this.#running.add(work);
    }
  }

  /** Resolves when all pages are judged. @throws what judging threw */
  async finish(): Promise<void> {
    await Promise.all(this.#running);
    this.#throwIfFailed();
  }

  /** Resolves when no page is being judged. Does not reject. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #judge(page: MatchPage, indexes: readonly number[]): Promise<void> {
    const { judge, results, onJudged } = this.#order;
    const reported = Math.max(0, Math.min(MAX_REPORTED, results.remainingCapacity));
    const verdicts = await judge.judge(page, indexes, reported, this.#signal);
    if (this.#signal.aborted) return;
    await onJudged(verdicts.flatMap((verdict) => results.add(verdict)));
  }
}
