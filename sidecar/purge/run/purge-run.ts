import { type DoneSoFar, type PurgeRequest, Requester } from '../requests/index.js';
import { Archiving } from '../archiving/index.js';
import { FilterIgnoredError, UnexpectedEntityError } from '../errors.js';
import { Lister, type ListedPage, type PageQuery, type PageSource } from '../listing/index.js';
import {
  checkContext,
  dependsOnContext,
  learnCounting,
  learnStride,
  probesOf,
  proofNameOf,
  proveLink,
  QueryProof,
} from '../proof/index.js';
import { contextOfRequest, formatParameters, type Parameter } from '../query/index.js';
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
  const named = query.ids === undefined ? undefined : new Set(query.ids);
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
    open: (opened) => new OpenedQuery(scope, opened, named, query.idPattern).context,
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

/** A query that is sent to the broker: checks each of its pages, and proves once that the broker honours it. */
class OpenedQuery implements PageSource {
  /** The purge, as it sees the broker through this query. */
  readonly context: PurgeContext;
  readonly #lister: Lister;
  readonly #proof: QueryProof;
  /** The ids that the purge names; all others are unexpected. */
  readonly #named: ReadonlySet<string> | undefined;
  /**
   * The pattern may match anywhere in an id, as in brokers. A pattern that RE2 cannot compile is left to the broker, whose
   * filtering is proven.
   */
  readonly #pattern: Pattern | undefined;
  readonly #isLocal: boolean;
  /** The @context on which the meaning of the query depends. */
  readonly #contextUrl: string | undefined;
  /** The same, if each answer of the broker has to name it. */
  #namedContext: string | undefined;
  #proven: Promise<void> | undefined;
  /** The first page that listed something, and what was asked for. */
  #listed: { readonly query: PageQuery; readonly page: ListedPage } | undefined;

  constructor(
    purge: PurgeScope,
    { resource, selection: filters, additions = [], isPartial = false, removed }: BrokerQuery,
    named: ReadonlySet<string> | undefined,
    pattern: Pattern | undefined,
  ) {
    const { requester, capabilities, clock, limits } = purge;
    const { headers } = requester;
    const selection = [...filters, ...additions];
    const countsUnshown = resource.path === '/temporal/entities';
    this.#named = named;
    this.#pattern = pattern;
    this.#isLocal = filters.some(({ name, value }) => name === 'local' && value === 'true');
    const contextUrl = contextOfRequest(headers['link']);
    if (contextUrl !== undefined && dependsOnContext(contextUrl, selection, removed))
      this.#contextUrl = contextUrl;
    this.#lister = new Lister({
      requester,
      capabilities,
      clock,
      resource,
      pageSize: limits.pageSize,
      pageSizeMax: Math.min(limits.pageSizeMax, capabilities.get('page-max') ?? Infinity),
    });
    this.#proof = new QueryProof({
      name: proofNameOf(selection, headers, resource.projectionsOf({ selection }).join()),
      probes: probesOf(filters, additions, headers, countsUnshown),
      lister: this.#lister,
      capabilities,
      countsUnshown,
    });
    this.context = {
      ...purge,
      resource,
      selection,
      countsUnshown,
      showsAll: !isPartial,
      paging: { contradicted: false, longestPage: 0 },
      lister: this,
      // If there are several queries, the first one mostly shows everything, so probes for the others would be wasted.
      beginProof: async (shape) => (isPartial ? undefined : this.#proof.begin(shape)),
      proveFilters: async () => (this.#proven ??= this.#prove()),
      learnCounting: () => learnCounting(this.#wide),
    };
  }

  /** See PageSource. */
  async showsAnything(selection: readonly Parameter[]): Promise<boolean> {
    return this.#lister.showsAnything(selection);
  }

  /** See QueryView. */
  async page(query: PageQuery): Promise<ListedPage> {
    const page = await this.#lister.page(query);
    if (page.warning !== undefined) this.context.warn(page.warning);
    if (this.#isLocal && page.madeEntityMap) {
      const detail =
        'The broker queried its context sources despite local=true, so the query would reach too much. Nothing more is deleted.';
      throw new FilterIgnoredError('local', detail);
    }
    const unexpected = await this.#unexpectedIn(page.ids);
    if (unexpected !== undefined) {
      // If the broker ignores the filter in every query, the proof says so.
      await this.context.proveFilters();
      throw unexpected;
    }
    if (this.#namedContext !== undefined) checkContext(page, this.#namedContext);
    if (query.selection === this.context.selection && page.ids.length > 0) this.#listed ??= { query, page };
    else if (this.#listed === undefined) this.#proof.discard();
    return page;
  }

  /** Returns the error for the first id that is excluded, or too long to be checked. Yields to the event loop now and then. */
  async #unexpectedIn(ids: readonly string[]): Promise<UnexpectedEntityError | undefined> {
    const [named, pattern] = [this.#named, this.#pattern];
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

  async #prove(): Promise<void> {
    const { query = { selection: this.context.selection, limit: 1 }, page } = this.#listed ?? {};
    const url = this.#contextUrl;
    await Promise.all([
      this.#proof.prove(query),
      page === undefined || url === undefined ? undefined : this.#proveContext(page, query.offset, url),
    ]);
    await learnStride(this.#wide);
  }

  /** The query with unchecked pages. To learn about counts, queries leave out filters, and their pages are only counted. */
  get #wide(): PurgeContext {
    return { ...this.context, lister: this.#lister };
  }

  async #proveContext(page: ListedPage, offset: number | undefined, url: string): Promise<void> {
    const { requester, capabilities, selection } = this.context;
    const name = proofNameOf(selection, requester.headers, 'context');
    if (capabilities.isHonoured(name)) return;
    const asksCount = capabilities.get('no-count') !== true;
    const proof = await proveLink({ requester, asksCount, path: page.path, selection, url }, page, offset);
    if (proof === 'refuses-others') capabilities.setHonoured(name);
    if (proof === 'names-it') this.#namedContext = url;
  }
}
