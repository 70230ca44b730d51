/**
 * Some brokers count and page first, and only then apply a filter: pages come short or even empty, and the count ignores
 * the filter. Such a query is walked over everything the broker pages through (`paging.stride`), ignoring the count.
 */
import type { BrokerCapabilities, ProbedParameter } from '../broker/capabilities.js';
import { BrokerRefusedError } from '../errors.js';
import type { ListedPage, Lister } from '../listing/listing.js';
import type { PageQuery } from '../listing/page.js';
import type { Parameter } from '../query/parameters.js';
import { filtersOf, impossibleSelections } from './impossible.js';
import type { PagingEvidence } from '../listing/walk.js';

/** A query, and what is known of how the broker counts and pages it. */
export interface CountedQuery {
  readonly selection: readonly Parameter[];
  readonly lister: Pick<Lister, 'page'>;
  readonly capabilities: BrokerCapabilities;
  readonly paging: PagingEvidence;
  /** The broker counts matches that it does not show, for another reason. */
  readonly countsUnshown: boolean;
}

/** Parameters that go together with a filter. */
const GEO = new Set(['georel', 'geometry', 'coordinates', 'geoproperty', 'geometryProperty']);

/** Narrows nothing, and is accepted without any filter. */
const LOCAL: Parameter = { name: 'local', value: 'true' };

/**
 * Finds out, for a query that is counted and shows nothing, whether its count is that of the query without a filter.
 *
 * @returns true when it is; the context then walks by what the broker pages through
 */
export async function learnCounting(context: CountedQuery): Promise<boolean> {
  const { selection, capabilities } = context;
  for (const filter of lateFiltersOf(selection)) {
    const [impossible] = impossibleSelections(selection, filter);
    if (impossible === undefined) continue;
    const page = await pageOf(context, { selection: impossible.selection, limit: 1 });
    if (page?.ids.length === 0 && (page.count ?? 0) > 0) capabilities.setCountsBefore(filter);
  }
  await learnStride(context);
  return context.paging.stride !== undefined;
}

/** Where the broker is known to count before it applies a filter of the query, learns how far one of its pages reaches. */
export async function learnStride(context: CountedQuery): Promise<void> {
  const { selection, capabilities, paging, countsUnshown } = context;
  if (countsUnshown || paging.stride !== undefined) return;
  const late = new Set<string>(
    lateFiltersOf(selection).filter((filter) => capabilities.countsBefore(filter)),
  );
  if (late.size === 0) return;
  const others = selection.filter(({ name }) => !late.has(name) && !(late.has('georel') && GEO.has(name)));
  const page = await pageOf(context, { selection: others.length === 0 ? [LOCAL] : others });
  if (page === undefined) {
    // It is unknown: one entity at a time.
    paging.stride = 1;
    return;
  }
  const { ids, count, limit } = page;
  // Counted and never shown, with the filter or without it: the count is wrong in some other way.
  if (ids.length === 0) return;
  // Without the filter, a page is as long as a page can be, unless it holds all there is.
  const holdsAll = count !== undefined && count <= ids.length;
  paging.stride = holdsAll ? limit : Math.min(ids.length, limit);
}

/** Filters that may be applied late. Every broker pages through the entities of a type. */
function lateFiltersOf(selection: readonly Parameter[]): readonly ProbedParameter[] {
  return filtersOf(selection).filter((filter) => filter !== 'type');
}

async function pageOf(
  { lister }: CountedQuery,
  query: Pick<PageQuery, 'selection' | 'limit'>,
): Promise<ListedPage | undefined> {
  try {
    return await lister.page({ ...query, count: true });
  } catch (error) {
    // Without the filter the query may be too wide.
    if (error instanceof BrokerRefusedError && [400, 404, 422].includes(error.problem.status))
      return undefined;
    throw error;
  }
}
