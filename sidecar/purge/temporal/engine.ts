import {
  checkBound,
  countMatches,
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
import { purgeByIds, planHints, withHints, type HintSource } from '../entities/index.js';
import { PurgeStoppedError, TooManyMatchesError, UncountableError } from '../errors.js';
import { IdStates, type Item, keyOf } from '../ledger/index.js';
import { removeItems } from '../attributes/index.js';
import { countItems, type ItemKind } from '../deleting/index.js';
import { temporalEntities } from '../listing/index.js';
import { temporalAttributeKind } from './attribute-kind.js';
import { createInstanceGuard, type InstanceGuard } from './instances.js';
import { InstanceKind } from './instance-kind.js';
import { VALUE_FILTERS } from './narrowed-queries.js';
import { TemporalHistories } from './history-archive.js';
import { firstShape } from './instance-pages.js';
import type { TemporalPurgeQuery } from './query.js';
import { CATCH_ALL_TIMES, QuerySet, type OpenedQuery } from './query-set.js';

const MAX_SAMPLE = 100;

/** Each question takes up to four queries, one for each variant. */
const HINTS: HintSource = { resource: temporalEntities(), variants: CATCH_ALL_TIMES, questionsMax: 2 };

const STOPPED_BY_VALUE =
  'The purge was stopped before it was complete. With some instances deleted, ' +
  'entities may no longer match q or the geoquery: continue by id and time.';

const UNCOUNTABLE =
  'The broker shows only part of what the query matches, so the maximum (maxAffected) ' +
  'cannot be checked. Nothing was deleted. Narrow the query, or remove the maximum.';

/**
 * Purges temporal evolutions by query. The target of the query decides whether whole temporal entities, attributes, datasets or
 * instances are deleted; none of these has a batch delete. See runPurge.
 */
export function purgeTemporal(
  order: PurgeOrder<TemporalPurgeQuery>,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): Promise<PurgeReport> {
  const { query } = order;
  return runPurge(order, dependencies, signal, {
    path: '/temporal/entities',
    run: async (scope) => {
      const report = await run(scope, query);
      if (!report.dryRun || report.matched > 0) return report;
      return withHints(scope, report, planHints(query.selection), HINTS);
    },
  });
}

async function run(scope: PurgeScope, query: TemporalPurgeQuery): Promise<PurgeReport> {
  if (query.target.kind === 'entities') return purgeWhole(scope, query);
  return purgeParts(scope, query).catch((error: unknown) => {
    throw error instanceof PurgeStoppedError && isByValue(query)
      ? new PurgeStoppedError(STOPPED_BY_VALUE, { cause: error })
      : error;
  });
}

async function purgeWhole(scope: PurgeScope, query: TemporalPurgeQuery): Promise<PurgeReport> {
  const { maxAffected } = scope.limits;
  const queries = new QuerySet(query, scope.archiving !== undefined);
  if (query.dryRun)
    return preview(scope, query, queries, async ({ context, first }, seen, note) => {
      const { isComplete } = await countMatches(
        context,
        first,
        ({ page }) => {
          for (const entityId of page.ids) note({ entityId });
          return true;
        },
        seen,
      );
      return isComplete;
    });
  let listed: number | undefined;
  if (maxAffected !== undefined && scope.plan === undefined) {
    const seen = new IdStates();
    let isFirst = true;
    for await (const { context, first } of queries.open(scope, { limit: maxAffected + 1 })) {
      const inAll = await checkBound(context, first, seen);
      if (isFirst) listed = inAll;
      isFirst = false;
    }
  }
  // Several queries may show the same arrivals, so the largest number counts, not the sum.
  let left = 0;
  for await (const { context, first } of queries.open(scope)) {
    const guard = createInstanceGuard(query);
    left = Math.max(left, await purgeByIds(withHistories(context, guard), first, listed));
    // The count is from the first query; the others show what that query missed.
    listed = undefined;
  }
  return reportOf(scope, left);
}

async function purgeParts(scope: PurgeScope, query: TemporalPurgeQuery): Promise<PurgeReport> {
  const { startedMs } = scope;
  const { maxAffected } = scope.limits;
  const guard = createInstanceGuard(query);
  const kindOf = (opened: OpenedQuery, countsOnly: boolean) =>
    itemKind(opened, query, { guard, startedMs, countsOnly });
  const queries = new QuerySet(query, scope.archiving !== undefined);
  const shape = query.target.kind === 'instances' ? firstShape(scope.limits.pageSize) : {};
  if (query.dryRun)
    return preview(scope, query, queries, async (opened, seen, note) =>
      countItems(opened.context, kindOf(opened, true), seen, (items) => items.forEach(note)),
    );
  if (maxAffected !== undefined && scope.plan === undefined) {
    const seen = new IdStates();
    for await (const opened of queries.open(scope, shape)) {
      const foundAll = await countItems(opened.context, kindOf(opened, true), seen, (_items, counted) => {
        if (counted > maxAffected) throw new TooManyMatchesError(counted, maxAffected, false);
      });
      if (!foundAll) throw new UncountableError(UNCOUNTABLE);
    }
  }
  const left = new Map<string | undefined, number>();
  for await (const opened of queries.open(scope, shape)) {
    const more = await removeItems(
      query.target.kind === 'instances' ? opened.context : withHistories(opened.context, guard),
      kindOf(opened, false),
      trustedTotal(opened.context, opened.first),
    );
    // The queries of one dataset may show the same arrivals, so the largest number counts.
    left.set(opened.datasetId, Math.max(left.get(opened.datasetId) ?? 0, more));
  }
  return reportOf(
    scope,
    [...left.values()].reduce((sum, each) => sum + each, 0),
  );
}

/** @param count counts what one of the queries shows; resolves to whether the count is complete */
async function preview(
  scope: PurgeScope,
  { target }: TemporalPurgeQuery,
  queries: QuerySet,
  count: (opened: OpenedQuery, seen: IdStates, note: (item: Item) => void) => Promise<boolean>,
): Promise<PurgeReport> {
  const seen = new IdStates();
  const sample = new Set<string>();
  const items: Item[] = [];
  let isComplete = true;
  for await (const opened of queries.open(scope)) {
    const foundAll = await count(opened, seen, (item) => {
      scope.onPlanned?.(keyOf(item));
      if (sample.size < MAX_SAMPLE) sample.add(item.entityId);
      if (items.length < MAX_SAMPLE) items.push(item);
    });
    isComplete &&= foundAll;
  }
  return previewOf(scope, {
    matched: seen.size,
    sample: [...sample],
    unit: target.kind,
    ...(target.kind === 'entities' ? {} : { items }),
    ...(isComplete ? {} : { isLowerBound: true }),
  });
}

function itemKind(
  { context, datasetId }: OpenedQuery,
  { target }: TemporalPurgeQuery,
  options: { readonly guard: InstanceGuard; readonly startedMs: () => number; readonly countsOnly: boolean },
): ItemKind {
  return target.kind === 'instances'
    ? new InstanceKind(context, { ...options, time: target.time })
    : temporalAttributeKind(context, options.guard, datasetId);
}

/** Lets a purge that archives read whole histories, because it deletes more than its lists show. */
function withHistories(context: PurgeContext, guard: InstanceGuard): PurgeContext {
  const { archiving } = context;
  if (archiving === undefined) return context;
  return { ...context, histories: new TemporalHistories({ ...context, archiving }, guard) };
}

/** Whether deleting instances may change which entities match. */
function isByValue({ target, selection }: TemporalPurgeQuery): boolean {
  return target.kind === 'instances' && selection.some(({ name }) => VALUE_FILTERS.has(name));
}
