import type { BrokerMemory } from '../broker/index.js';
import {
  type DoneSoFar,
  type PurgeRequest,
  type RequestDependencies,
  Requester,
  type RequestOrder,
} from '../requests/index.js';
import { Archiving, type PurgeArchive } from '../archiving/index.js';
import { FilterIgnoredError, UnexpectedEntityError } from '../errors.js';
import type { ListedResource } from '../listing/index.js';
import { formatParameters, type PurgeQuery } from '../query/index.js';
import { type OnOutcome, ItemLedger } from '../ledger/index.js';
import type {
  AppliedPlan,
  PurgeEvent,
  PurgeLimits,
  PurgeProgress,
  PurgeReport,
  PurgeScope,
} from './purge.js';
import { OpenedQuery } from './query-view.js';

const MAX_WARNINGS = 10;

/** What a purge needs from outside. */
export interface PurgeDependencies extends RequestDependencies {
  /** What was learnt about the collection that is purged. */
  readonly capabilities: BrokerMemory;
}

/** One purge: what, with which headers, how hard, and what goes along with it while it runs. */
export interface PurgeOrder<Query extends PurgeQuery = PurgeQuery> extends RequestOrder {
  readonly query: Query;
  readonly limits: PurgeLimits;
  readonly onEvent?: ((event: PurgeEvent) => void) | undefined;
  /** Called with the outcome of each item; never for a purge that the broker does by itself. */
  readonly onOutcome?: OnOutcome | undefined;
  /** Where it archives what it deletes, before it deletes it. */
  readonly archive?: PurgeArchive | undefined;
  /** Only what is in it is deleted. */
  readonly plan?: AppliedPlan | undefined;
  /** Of a dry run: called with the key of each match, perhaps more than once, until there are no more. */
  readonly onPlanned?: ((key: string) => void) | undefined;
}

export interface PurgePlan {
  /** The collection that is purged. */
  readonly path: ListedResource['path'];
  /** Does the work, and returns what it came to. */
  readonly run: (scope: PurgeScope) => Promise<PurgeReport>;
  /** The work is not booked item by item; it reports by itself how far it is. */
  readonly reportsItself?: boolean;
}

/** What the parts of one purge share, before any query is opened. Nothing is sent yet. */
export function createPurgeScope(
  order: PurgeOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
  { path, reportsItself = false }: Omit<PurgePlan, 'run'>,
): PurgeScope {
  const { query, limits, archive, onEvent } = order;
  const { capabilities, clock } = dependencies;
  const ledger = new ItemLedger(limits.maxAffected, order.onOutcome);
  const warnings = new Set<string>();
  const named = query.ids === undefined ? undefined : new Set(query.ids);
  let lastProgress: Pick<PurgeProgress, 'deleted' | 'unknown'> = { deleted: 0, unknown: 0 };
  const done = (): DoneSoFar => {
    const { deleted, unknown } = reportsItself ? lastProgress : ledger.counts;
    return { affected: deleted + unknown, taken: reportsItself ? Infinity : ledger.matched };
  };
  const requester = new Requester(order, dependencies, signal, probeOf(path, query), done);
  const scope: PurgeScope = {
    limits,
    requester,
    capabilities,
    ledger,
    warnings,
    clock,
    archiving: archive && new Archiving(archive, signal),
    plan: order.plan,
    onPlanned: order.onPlanned,
    startedMs: clock.now(),
    emit(event) {
      if (event.type === 'progress') lastProgress = event;
      onEvent?.(event);
    },
    warn(warning) {
      if (warnings.size < MAX_WARNINGS) warnings.add(warning);
    },
    reportProgress() {
      const hasBegun = ledger.matched > 0;
      scope.emit({ type: 'progress', hasBegun, ...ledger.counts, ...requester.effort });
    },
    open: (opened) => new OpenedQuery(scope, opened, named, query.idPattern).context,
  };
  return scope;
}

/**
 * Runs a purge to its end. It stops when the signal aborts: nothing new is sent, and deletes under way are waited for.
 *
 * @throws one of purge/errors.ts; the last `progress` tells what was done until then, and `failures` what could not be
 */
export async function runPurge(
  order: PurgeOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
  plan: PurgePlan,
): Promise<PurgeReport> {
  const scope = createPurgeScope(order, dependencies, signal, plan);
  try {
    return await plan.run(scope);
  } catch (error) {
    if (error instanceof FilterIgnoredError || error instanceof UnexpectedEntityError)
      dependencies.capabilities.distrust();
    if (plan.reportsItself !== true) {
      scope.reportProgress();
      scope.emit({ type: 'failures', errors: scope.ledger.errors });
    }
    throw error;
  } finally {
    // Pages that were asked for ahead are of no use any more.
    scope.requester.end();
  }
}

/** The smallest query there is: any answer to it shows that the broker is there. */
function probeOf(path: ListedResource['path'], { selection }: PurgeQuery): PurgeRequest {
  const parameters = formatParameters([...selection, { name: 'limit', value: '1' }]);
  return { method: 'GET', path: `${path}?${parameters}`, operation: 'answer' };
}

/** The report of a purge that ran to its end. @param left matches that turned up meanwhile, without those that were made again */
export function reportOf(scope: PurgeScope, left: number): PurgeReport {
  const { ledger, warnings, requester, archiving } = scope;
  return {
    dryRun: false,
    ...ledger.counts,
    success: ledger.success,
    errors: ledger.errors,
    sample: [],
    warnings: [...warnings, ...(archiving?.warnings ?? [])],
    arrived: left + ledger.madeAgain,
    ...requester.effort,
  };
}

/** The report of a dry run. */
export function previewOf(
  scope: PurgeScope,
  preview: Pick<PurgeReport, 'matched' | 'sample' | 'unit' | 'items' | 'isLowerBound'>,
): PurgeReport {
  return { ...reportOf(scope, 0), dryRun: true, ...preview };
}
