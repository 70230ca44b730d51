import { parseLine } from '../../archive/index.js';
import { unlessStopped } from '../errors.js';
import { Requester, type RequesterOptions } from '../requests/index.js';
import type { PurgeDependencies, PurgeLimits } from '../run/index.js';
import { Attributes } from './attributes.js';
import { Instances } from './instances.js';
import type { RestoreItem, RestoreKind } from './item.js';
import { PageRestorer, type RestoreEvent, type RestorePosition, type RestoreReport } from './page.js';
import { WholeEntities } from './whole-entities.js';

/** What to restore, and how. */
export interface RestoreOrder extends Pick<RequesterOptions, 'headers' | 'rateLimiter' | 'beforeDelete'> {
  /** The archive: one line for each entity, in the same order each time. */
  readonly lines: () => AsyncIterable<{ readonly id: string; readonly line: string }>;
  /** What the archive contains. */
  readonly unit: 'entities' | 'attributes' | 'instances';
  /** Only these entities; undefined for all. */
  readonly ids: ReadonlySet<string> | undefined;
  /** Create nothing; compare what exists with the archive. */
  readonly dryRun: boolean;
  readonly limits: Pick<PurgeLimits, 'batchSize' | 'concurrency'>;
  /** How far an earlier process has come. */
  readonly from: RestorePosition | undefined;
  /** Stores how far the restore has come; called before a page is created. If it throws, the restore ends. */
  readonly save: (position: RestorePosition) => Promise<void>;
  readonly onEvent: (event: RestoreEvent) => void;
}

const KINDS = { entities: WholeEntities, attributes: Attributes, instances: Instances } as const;

/** A harmless query for a broker that seems to be away. */
const PROBE = { method: 'GET', path: '/types?limit=1', operation: 'answer', accepts403: true } as const;

/** Maximum size of a batch; brokers refuse bodies of 1 MB or more. */
const MAX_PAGE_BYTES = 800_000;

/**
 * Creates again what a purge has archived, page by page, and never overwrites what exists. Before each page, it looks up what
 * exists, and stores what it is about to create. After each page, it looks up again. So the counts are exact, even if the
 * process dies in between.
 *
 * @throws what a purge throws, and what reading the archive throws
 */
export async function restoreArchive(
  order: RestoreOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): Promise<RestoreReport> {
  const { limits, dryRun, save, onEvent } = order;
  const { clock, capabilities } = dependencies;
  const requester = new Requester(order, dependencies, signal, PROBE);
  const kind = new KINDS[order.unit]({ requester, capabilities, clock, limits });
  const page = new PageRestorer({ kind, requester, dryRun, save, position: order.from });
  const absent = new Set(order.ids);
  const report = (): RestoreReport => ({
    ...page.report,
    ...requester.requestCounts,
    dryRun,
    absent: [...absent],
  });
  try {
    const pages = pagesOf(order, kind, page.position, absent, () => requester.maxPerRequest);
    for (;;) {
      const { done, value } = await unlessStopped(pages.next(), signal);
      if (done === true) return report();
      await page.restore(value.items, value.line, value.lines);
      onEvent({ type: 'progress', ...report() });
    }
  } catch (error) {
    onEvent({ type: 'progress', ...report() });
    throw error;
  } finally {
    requester.end();
  }
}

interface Page {
  readonly items: readonly RestoreItem[];
  /** The number of its first line, and how many lines it covers, including those of entities that are left out. */
  readonly line: number;
  readonly lines: number;
}

/**
 * Reads the archive in pages from a position on. A page that was begun gets the same lines again.
 *
 * @param absent the requested ids; those that are found in the archive are removed
 */
async function* pagesOf(
  { lines, ids, limits }: RestoreOrder,
  kind: RestoreKind,
  from: RestorePosition,
  absent: Set<string>,
  maxPerRequest: () => number,
): AsyncGenerator<Page, void> {
  let items: RestoreItem[] = [];
  let bytes = 0;
  let first = from.line;
  let at = -1;
  const begun = from.begun === undefined ? undefined : from.line + from.begun.lines;
  for await (const { id, line } of lines()) {
    at += 1;
    absent.delete(id);
    if (at < from.line) continue;
    const isInBegun = begun !== undefined && at < begun;
    const found = ids === undefined || ids.has(id) ? kind.itemsOf(id, parseLine(line).entity) : [];
    const most = Math.max(1, Math.min(limits.batchSize, maxPerRequest()));
    const more = found.length === 0 ? 0 : Buffer.byteLength(line);
    const isFull = items.length > 0 && (items.length + found.length > most || bytes + more > MAX_PAGE_BYTES);
    if (!isInBegun && (isFull || at === begun)) {
      yield { items, line: first, lines: at - first };
      [items, bytes, first] = [[], 0, at];
    }
    items.push(...found);
    bytes += more;
  }
  if (at >= first) yield { items, line: first, lines: at + 1 - first };
}
