import { type DoneSoFar, type PurgeRequest, Requester } from '../requests/index.js';
import { Archiving } from '../archiving/index.js';
import { FilterIgnoredError, UnexpectedEntityError } from '../errors.js';
import {
  Lister,
  type ListedPage,
  type PageQuery,
  type PageSource,
  type PagingEvidence,
} from '../listing/index.js';
import { QueryProof } from '../proof/index.js';
import { formatParameters, type PurgeQuery } from '../query/index.js';
import type { Pattern } from '../../ngsi-ld/pattern.js';
import { yieldToEventLoop } from '../../shared/event-loop.js';
import { ItemLedger } from '../ledger/index.js';
import type {
  BrokerQuery,
  PurgeContext,
  PurgeDependencies,
  PurgeOrder,
  PurgePlan,
  PurgeProgress,
  PurgeReport,
  PurgeScope,
} from './purge.js';

const MAX_WARNINGS = 10;

/** Steps of the pattern matcher before it yields to the event loop: tens of milliseconds at most. */
const MAX_STEPS = 1_000_000;

/** Longest id, in UTF-16 units, that is matched against a pattern; real ids are far shorter. */
const MAX_ID_LENGTH = 4096;

/** Clocks that differ by no more count as the same: the `Date` of an answer is in whole seconds. */
const SAME_CLOCK_MS = 2000;

/** Creates what the parts of one purge share. Nothing is sent yet. */
export function createPurgeScope(
  order: PurgeOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
  { path, reportsItself = false }: Omit<PurgePlan, 'run'>,
): PurgeScope {
  const { query, limits, archive, onEvent } = order;
  const { capabilities, clock, brokerAheadMs } = dependencies;
  const [beganMs, beganSteadyMs] = [clock.now(), clock.monotonicMs()];
  const ledger = new ItemLedger(limits.maxAffected, order.onOutcome);
  const warnings = new Set<string>();
  let lastProgress: Pick<PurgeProgress, 'deleted' | 'unknown'> = { deleted: 0, unknown: 0 };
  const done = (): DoneSoFar => {
    const { deleted, unknown } = reportsItself ? lastProgress : ledger.counts;
    return { affected: deleted + unknown, taken: reportsItself ? Infinity : ledger.matched };
  };
  // The smallest query of the purge: any answer to it shows that the broker can be reached.
  const smallest = formatParameters([...query.selection, { name: 'limit', value: '1' }]);
  const probe: PurgeRequest = { method: 'GET', path: `${path}?${smallest}`, operation: 'answer' };
  const requester = new Requester(order, dependencies, signal, probe, done);
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
    startedMs() {
      const aheadMs = brokerAheadMs?.() ?? 0;
      // The earlier of the two if this clock was set since: items created during the purge must not look old.
      const least = Math.min(beganMs, clock.now() - (clock.monotonicMs() - beganSteadyMs));
      // Never later than by this clock, because a proxy may have written the `Date`.
      return aheadMs > SAME_CLOCK_MS ? least - aheadMs : least;
    },
    emit(event) {
      if (event.type === 'progress') lastProgress = event;
      onEvent?.(event);
    },
    warn(warning) {
      if (warnings.size < MAX_WARNINGS) warnings.add(warning);
    },
    reportProgress() {
      const hasBegun = ledger.matched > 0;
      scope.emit({ type: 'progress', hasBegun, ...ledger.counts, ...requester.requestCounts });
    },
    open: (opened) => openQuery(scope, query, opened),
  };
  return scope;
}

/**
 * Runs a purge to its end. It stops when the signal aborts: nothing new is sent, and deletes in flight are awaited.
 *
 * @throws one of purge/errors.ts; the last `progress` event tells what was done, and `failures` what could not be done
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
      dependencies.capabilities.forgetProofs();
    if (plan.reportsItself !== true) {
      scope.reportProgress();
      scope.emit({ type: 'failures', errors: scope.ledger.errors });
    }
    throw error;
  } finally {
    // Pages that were requested ahead are no longer needed.
    scope.requester.end();
  }
}

/**
 * Returns the report of a purge that ran to its end.
 *
 * @param left matches that arrived during the purge and were left, without those that were made again
 */
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
    ...requester.requestCounts,
  };
}

/** Opens a query of a purge: each of its pages is checked before anything in it is used. */
function openQuery(purge: PurgeScope, { ids, idPattern }: PurgeQuery, opened: BrokerQuery): PurgeContext {
  const { resource, selection: filters, additions = [], isPartial = false, removed } = opened;
  const selection = [...filters, ...additions];
  const paging: PagingEvidence = { contradicted: false, longestPage: 0 };
  const countsUnshown = resource.path === '/temporal/entities';
  const view = { resource, selection, paging, countsUnshown };
  const lister = new Lister({ ...purge, resource });
  const proof = new QueryProof({ ...purge, ...view, lister, filters, additions, removed });
  const isLocal = filters.some(({ name, value }) => name === 'local' && value === 'true');
  const named = ids && new Set(ids);
  async function page(query: PageQuery): Promise<ListedPage> {
    const shown = await lister.page(query);
    if (shown.warning !== undefined) purge.warn(shown.warning);
    if (isLocal && shown.madeEntityMap) {
      const detail =
        'The broker queried its context sources despite local=true, so the query would reach too much. Nothing more is deleted.';
      throw new FilterIgnoredError('local', detail);
    }
    const unexpected = await unexpectedIn(shown.ids, named, idPattern);
    if (unexpected !== undefined) {
      // If the broker ignores the filter in every query, the proof says so.
      await proof.prove();
      throw unexpected;
    }
    proof.note(query, shown);
    return shown;
  }
  const checked: PageSource = { page, showsAnything: (asked) => lister.showsAnything(asked) };
  return { ...purge, ...view, lister: checked, proof, showsAll: !isPartial };
}

/**
 * Returns the error for the first id that is excluded, or too long to be checked. Yields to the event loop now and then.
 *
 * @param named the ids that the purge names; all others are unexpected
 * @param pattern may match anywhere in an id, as in brokers
 */
async function unexpectedIn(
  ids: readonly string[],
  named: ReadonlySet<string> | undefined,
  pattern: Pattern | undefined,
): Promise<UnexpectedEntityError | undefined> {
  const unnamed = named && ids.find((id) => !named.has(id));
  if (unnamed !== undefined) return new UnexpectedEntityError(unnamed, 'id');
  if (pattern === undefined) return undefined;
  let steps = 0;
  for (const id of ids) {
    if (id.length > MAX_ID_LENGTH || !pattern.test(id)) return new UnexpectedEntityError(id, 'idPattern');
    steps += pattern.size * id.length;
    if (steps < MAX_STEPS) continue;
    steps = 0;
    await yieldToEventLoop();
  }
  return undefined;
}
