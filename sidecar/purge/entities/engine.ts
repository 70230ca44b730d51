import { NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import {
  type AttributeRemoval,
  previewAttributes,
  removeAttributes,
  checkKept,
} from '../attributes/index.js';
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
import { checkNativePurge, purgeNatively } from './native.js';
import { checkUnderstood } from './understood.js';
import {
  ENTITY_PARAMETERS,
  namesOf,
  parseParameters,
  type PurgeParameters,
  type PurgeQuery,
  refusedData,
  vetSelection,
  type WholeTenant,
} from '../query/index.js';

/** A vetted query of an entity purge. */
export interface EntityPurgeQuery extends PurgeQuery {
  readonly removal: AttributeRemoval | undefined;
}

/**
 * Parses and vets the query string of `DELETE /ngsi-ld/v1/entities` (clauses 5.6.21 and 6.4.3.3, extended by all parameters
 * that select in Query Entities, and by the options of a purge such as dryRun and maxAffected).
 *
 * @param query the query string without its question mark, or its parameters
 * @param wholeTenant how to treat a purge that may empty its tenant
 * @throws QueryRefusedError for anything unknown, ambiguous, unparsable or too wide
 * @throws PolicyRefusedError for a purge that may empty its tenant, if the policy refuses those
 */
export function parseEntityPurgeQuery(
  query: string | PurgeParameters,
  wholeTenant: WholeTenant = 'bounded',
): EntityPurgeQuery {
  const parameters = parseParameters(query, ENTITY_PARAMETERS);
  const vetted = vetSelection(parameters, { wholeTenant });
  return { ...vetted, removal: removalOf(parameters) };
}

function removalOf(parameters: ReadonlyMap<string, string>): AttributeRemoval | undefined {
  const drop = namesOf(parameters, 'drop');
  const keep = namesOf(parameters, 'keep');
  if (drop !== undefined && keep !== undefined) {
    throw refusedData(
      'keep',
      'drop and keep cannot be combined: name the attributes to remove, or those to keep.',
    );
  }
  const names = drop ?? keep;
  if (names === undefined) return undefined;
  const kind = drop === undefined ? 'keep' : 'drop';
  const attrs = namesOf(parameters, 'attrs');
  // With attrs, the broker shows no other attributes, so the others could not be found.
  if (attrs !== undefined && kind === 'keep')
    throw refusedData(
      kind,
      'keep cannot be combined with attrs: with attrs, the broker does not show the attributes to remove.',
    );
  if (attrs !== undefined && names.some((name) => !attrs.includes(name)))
    throw refusedData(kind, `With attrs, drop can name only attributes listed there: ${attrs.join(', ')}.`);
  for (const name of names) {
    if (NON_ATTRIBUTE_MEMBERS.has(name)) {
      throw refusedData(kind, `${name} is not an attribute that can be removed or kept.`);
    }
  }
  return { kind, names };
}

/** Purges entities by query (clause 5.6.21), or their attributes under drop and keep; see runPurge. */
export function purgeEntities(
  order: PurgeOrder<EntityPurgeQuery>,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): Promise<PurgeReport> {
  const { query, limits } = order;
  return runPurge(order, dependencies, signal, {
    path: '/entities',
    run: (scope) => purge(scope, query),
    reportsItself: limits.strategy === 'native' && query.removal === undefined,
  });
}

/** How much of each entity a purge needs. */
function contentOf({ removal }: EntityPurgeQuery, isArchived: boolean): Parameters<typeof entities>[0] {
  if (removal === undefined) return isArchived ? 'archived' : 'ids';
  return isArchived ? 'whole' : 'attributes';
}

async function purge(scope: PurgeScope, query: EntityPurgeQuery): Promise<PurgeReport> {
  const { limits } = scope;
  const { removal, dryRun, selection } = query;
  if (limits.strategy === 'native' && removal === undefined) checkNativePurge(query, scope.plan);

  const isArchived = scope.archiving !== undefined && !dryRun;
  const context = scope.open({
    resource: entities(contentOf(query, isArchived)),
    selection,
    removed: removal?.names,
  });
  // With a maximum, one match too many is enough to refuse. For drop and keep, it applies to attributes, not to entities.
  const isBound =
    limits.maxAffected !== undefined && removal === undefined && !dryRun && scope.plan === undefined;
  const first = await firstProvenPage(context, isBound ? { limit: limits.maxAffected + 1 } : {});
  if (removal !== undefined) await checkKept(context, removal, first);
  if (dryRun) return preview(context, query, first);
  if (removal !== undefined)
    return reportOf(scope, await removeAttributes(context, removal, trustedTotal(context, first)));
  const listed = await checkBound(context, first);
  if (limits.strategy === 'native') {
    const counts = await purgeNatively(context, first);
    return { ...reportOf(scope, 0), ...counts };
  }
  return reportOf(scope, await purgeByIds(context, first, listed));
}

/** Returns the report of a dry run. If nothing matches, it has hints on why that may be. */
async function preview(
  context: PurgeContext,
  { removal, selection }: EntityPurgeQuery,
  first: ListedPage,
): Promise<PurgeReport> {
  const found =
    removal === undefined ? await previewEntities(context, first) : await previewAttributes(context, removal);
  const report = previewOf(context, found);
  if (report.matched > 0) return report;
  const dropped = removal?.kind === 'drop' ? removal.names : [];
  return withHints(context, report, planHints(selection, dropped), ENTITY_HINTS);
}

/**
 * Returns the first page of a query, after the broker has shown that it applies the whole query. So what the page lists may be
 * used, and an empty page means that nothing matches.
 *
 * @throws as firstPage(), QueryProof.prove() and checkUnderstood()
 */
export async function firstProvenPage(context: PurgeContext, shape: PageShape = {}): Promise<ListedPage> {
  const first = await firstPage(context, shape);
  if (first.ids.length > 0) await context.proof.prove();
  else if (context.paging.stride === undefined) await checkUnderstood(context);
  return first;
}
