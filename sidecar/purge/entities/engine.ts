import { previewAttributes, removeAttributes, checkKept } from '../attributes/index.js';
import {
  checkBound,
  firstPage,
  previewEntities,
  trustedTotal,
  type PurgeContext,
  type PurgeScope,
  type PurgeReport,
  previewOf,
  reportOf,
  runPurge,
  type PurgeDependencies,
  type PurgeOrder,
} from '../run/index.js';
import { purgeByIds } from './drain.js';
import { ENTITY_HINTS, planHints, withHints } from './hints.js';
import { entities, type ListedPage, type PageShape } from '../listing/index.js';
import { checkNativeQuery, purgeNatively } from './native.js';
import { checkUnderstood } from './understood.js';
import type { EntityPurgeQuery } from '../query/index.js';

/** Purges entities by query (clause 5.6.21), or their attributes under drop and keep; see runPurge. */
export function purgeEntities(
  order: PurgeOrder<EntityPurgeQuery>,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): Promise<PurgeReport> {
  const { query, limits } = order;
  return runPurge(order, dependencies, signal, {
    path: '/entities',
    run: async (scope) => {
      const report = await run(scope, query);
      if (!report.dryRun || report.matched > 0) return report;
      const dropped = query.removal?.kind === 'drop' ? query.removal.names : [];
      return withHints(scope, report, planHints(query.selection, dropped), ENTITY_HINTS);
    },
    reportsItself: limits.strategy === 'native' && query.removal === undefined,
  });
}

/** What a purge needs of each entity. */
function contentOf({ removal }: EntityPurgeQuery, isArchived: boolean): Parameters<typeof entities>[0] {
  if (removal === undefined) return isArchived ? 'archived' : 'ids';
  return isArchived ? 'whole' : 'attributes';
}

async function run(scope: PurgeScope, query: EntityPurgeQuery): Promise<PurgeReport> {
  const { limits } = scope;
  const { removal, dryRun, selection } = query;
  if (limits.strategy === 'native' && removal === undefined) checkNativeQuery(query);

  const isArchived = scope.archiving !== undefined && !dryRun;
  const context = scope.open({
    resource: entities(contentOf(query, isArchived)),
    selection,
    removed: removal?.names,
  });
  // Under a bound, one match too many settles it. Attributes are bounded, not their entities.
  const isBound =
    limits.maxAffected !== undefined && removal === undefined && !dryRun && scope.plan === undefined;
  const first = await firstProvenPage(context, isBound ? { limit: limits.maxAffected + 1 } : {});
  if (removal !== undefined) {
    await checkKept(context, removal, first);
    if (dryRun) return previewOf(scope, await previewAttributes(context, removal));
    return reportOf(scope, await removeAttributes(context, removal, trustedTotal(context, first)));
  }
  if (dryRun) return previewOf(scope, await previewEntities(context, first));
  const listed = await checkBound(context, first);
  if (limits.strategy === 'native') {
    const counts = await purgeNatively(context, first);
    return { ...reportOf(scope, 0), ...counts };
  }
  return reportOf(scope, await purgeByIds(context, first, listed));
}

/**
 * The first page of a query, once the broker has shown that it applies all of it: what it lists may be used, and an empty list
 * means that nothing matches.
 *
 * @throws as firstPage(), proveFilters() and checkUnderstood()
 */
export async function firstProvenPage(context: PurgeContext, shape: PageShape = {}): Promise<ListedPage> {
  const first = await firstPage(context, shape);
  if (first.ids.length > 0) await context.proveFilters();
  else if (context.paging.stride === undefined) await checkUnderstood(context);
  return first;
}
