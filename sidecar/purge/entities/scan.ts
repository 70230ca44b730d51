import { entities, type ReadIds } from '../listing/index.js';
import {
  type AcceptedParameters,
  parseParameters,
  type PurgeParameters,
  SELECTION_PARAMETERS,
  vetSelection,
} from '../query/index.js';
import {
  countMatches,
  previewOf,
  type PurgeContext,
  type PurgeDependencies,
  type PurgeOrder,
  type PurgeReport,
  type PurgeScope,
  requireListed,
  runPurge,
  trustedTotal,
} from '../run/index.js';
import { ENTITY_HINTS, planHints, withHints } from './hints.js';
import { type EntityPurgeQuery, firstProvenPage } from './engine.js';

/** Parameters of a scan: those that select whole entities. */
const SCAN_PARAMETERS: AcceptedParameters = {
  of: 'a scan',
  names: new Set([...SELECTION_PARAMETERS].filter((name) => name !== 'attrs')),
  reasons: {
    attrs: 'it would hide the other attributes, which are judged as well; use q=<attribute> to select by one',
    limit: 'use sample to judge some of the matches',
    maxPerSecond: 'it is a member of the request, next to the query',
    dryRun: 'a scan deletes nothing',
  },
};

/**
 * Parses and vets the query of a scan: what a purge of whole entities would match. It deletes nothing, so it may reach every
 * entity of a tenant.
 *
 * @throws QueryRefusedError
 */
export function parseScanQuery(query: string | PurgeParameters): EntityPurgeQuery {
  const parameters = parseParameters(query, SCAN_PARAMETERS);
  return { ...vetSelection(parameters, { wholeTenant: 'allow' }), removal: undefined };
}

export interface MatchPage {
  /** The broker's answer: a JSON array of entities. */
  readonly text: string;
  /** The ids of all entities in it. */
  readonly ids: readonly string[];
  /** Positions in it of the entities that no page has shown before. */
  readonly fresh: readonly number[];
}

export interface ListingOrder extends PurgeOrder<EntityPurgeQuery> {
  /** Reads the ids in a page; the very list is passed on with the page. */
  readonly readIds: ReadIds;
  /**
   * Receives the pages one after the other. The next page is requested when the promise resolves.
   *
   * @returns false to stop
   */
  readonly onPage: (page: MatchPage) => Promise<boolean>;
}

/**
 * Lists whole entities by query, as a purge does: the broker has to prove that it applies every filter, and an entity that it
 * lists twice is shown once. Deletes nothing. See runPurge. The report says how many matches were shown, and has hints if there
 * were none.
 */
export function listEntities(
  order: ListingOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): Promise<PurgeReport> {
  return runPurge(order, dependencies, signal, {
    path: '/entities',
    run: async (scope) => {
      const report = await run(scope, order);
      if (report.matched > 0) return report;
      return withHints(scope, report, planHints(order.query.selection), ENTITY_HINTS);
    },
    reportsItself: true,
  });
}

async function run(scope: PurgeScope, { query, readIds, onPage }: ListingOrder): Promise<PurgeReport> {
  const context = scope.open({ resource: entities('text', readIds), selection: query.selection });
  const first = await firstProvenPage(context);
  const total = trustedTotal(context, first);
  if (total !== undefined) scope.emit({ type: 'counted', matches: total });
  const { listed, isComplete, end } = await countMatches(context, first, async ({ page, fresh }) => {
    const { ids, body = '[]' } = page;
    const left = new Set(fresh);
    const positions = ids.flatMap((id, index) => (left.delete(id) ? [index] : []));
    scope.reportProgress();
    return onPage({ text: body, ids, fresh: positions });
  });
  if (end !== undefined) {
    const { lastCount } = end;
    requireListed(listed, end);
    if (lastCount !== undefined && lastCount > listed && isCounted(context))
      scope.warn(`The broker counts ${String(lastCount)} matches and lists ${String(listed)}.`);
  }
  return previewOf(scope, { matched: listed, sample: [], ...(isComplete ? {} : { isLowerBound: true }) });
}

function isCounted({ paging }: PurgeContext): boolean {
  return paging.stride === undefined && paging.hidesSome !== true && !paging.contradicted;
}
