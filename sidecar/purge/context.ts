import type { BrokerCapabilities } from './broker/capabilities.js';
import type { Clock } from '../shared/clock.js';
import { createDeleter, type Deleter, type DeleteStrategy } from './deleter.js';
import { FilterIgnoredError } from './errors.js';
import type { PurgeEvent } from './events.js';
import { createIdGuard } from './proof/id-guard.js';
import type { ListedResource } from './listing/listed-resource.js';
import { createLister, type Lister } from './listing/listing.js';
import type { Page, PageQuery } from './listing/page.js';
import { learnStride } from './listing/page-first.js';
import type { Parameter } from './query/parameters.js';
import { proveFilters } from './proof/prober.js';
import { effortOf, type Requester } from './requests/requester.js';
import type { PurgeQuery } from './query/selection.js';
import { proveTenant } from './proof/tenant-proof.js';
import { ItemLedger, type OnOutcome } from './item-ledger.js';
import type { PagingEvidence } from './listing/walk.js';

/** How hard a purge may work: what its caller asks for, within the gateway's configuration. */
export interface PurgeLimits {
  /** Entities asked for in one page. */
  readonly pageSize: number;
  /** Largest page, for brokers that are faster with more than `pageSize` entities. */
  readonly pageSizeMax: number;
  /** Ids in one batch delete. */
  readonly batchSize: number;
  /** Delete requests in flight. */
  readonly concurrency: number;
  readonly strategy: DeleteStrategy | 'native';
  /** Most items that may be affected; undefined for no bound. */
  readonly maxAffected: number | undefined;
}

/** What all parts of one purge share, whichever query they send. */
export interface PurgeScope {
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly deleter: Deleter;
  /** Records every item; refuses more than `limits.maxAffected`. */
  readonly ledger: ItemLedger;
  readonly warnings: ReadonlySet<string>;
  readonly clock: Pick<Clock, 'now'>;
  /** When the purge began, in milliseconds since the epoch. */
  readonly startedMs: number;
  readonly emit: (event: PurgeEvent) => void;
  /** Adds a warning to the report; at most ten are kept. */
  warn(warning: string): void;
  /** Emits a progress event. */
  reportProgress(): void;
  /** Opens a query. Nothing is sent yet. */
  open(query: BrokerQuery): PurgeContext;
}

/** A query: the caller's filters, and what the broker needs besides. */
export interface BrokerQuery {
  readonly resource: ListedResource;
  /** The caller's filters. */
  readonly selection: readonly Parameter[];
  /** Parameters that the broker requires and that exclude no match. */
  readonly additions?: readonly Parameter[];
  /** Shows only some of the matches; other queries show the rest. */
  readonly isPartial?: boolean;
}

/** What the broker shows of the matches through one query. */
export interface QueryView {
  /** The collection that is queried. */
  readonly resource: ListedResource;
  /** The query as sent to the broker. */
  readonly selection: readonly Parameter[];
  /**
   * Lists pages. Each page is checked before anything in it is used, and its warnings are kept.
   *
   * Besides what a lister throws: UnexpectedEntityError for an id that the query excludes, FilterIgnoredError when a
   * page shows that the broker did not stay local.
   */
  readonly lister: Lister;
  /** An item that this query no longer lists is gone. */
  readonly showsAll: boolean;
  /** The broker counts matches that it does not show, or shows empty pages before the end. */
  readonly countsUnshown: boolean;
  /** What the broker's counts and pages have revealed so far. */
  readonly paging: PagingEvidence;
  /**
   * Proves, once, that the broker honours the query's filters and its tenant. Required before listed ids are used.
   *
   * @throws FilterIgnoredError
   */
  proveFilters(): Promise<void>;
}

/** A purge, and the query through which it sees the broker. */
export type PurgeContext = PurgeScope & QueryView;

export interface PurgeScopeOptions {
  readonly query: PurgeQuery;
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: (event: PurgeEvent) => void;
  readonly onOutcome?: OnOutcome | undefined;
}

const MAX_WARNINGS = 10;

/** @param path the collection whose entities are deleted */
export function createPurgeScope(options: PurgeScopeOptions, path: ListedResource['path']): PurgeScope {
  const { query, limits, requester, capabilities, clock, emit } = options;
  const ledger = new ItemLedger(limits.maxAffected, options.onOutcome);
  const warnings = new Set<string>();
  const guard = createIdGuard(query.ids, query.idPattern);

  function warn(warning: string): void {
    if (warnings.size < MAX_WARNINGS) warnings.add(warning);
  }

  async function check(page: Page, isLocal: boolean): Promise<void> {
    if (page.warning !== undefined) warn(page.warning);
    if (isLocal && page.madeEntityMap) {
      const detail =
        'The broker queried its context sources despite local=true, so this purge would reach too much. Nothing more is deleted.';
      throw new FilterIgnoredError('local', detail);
    }
    await guard.check(page.ids);
  }

  function viewOf({
    resource,
    selection: filters,
    additions = [],
    isPartial = false,
  }: BrokerQuery): QueryView {
    const selection = [...filters, ...additions];
    const unchecked = createLister({
      requester,
      capabilities,
      pageSize: limits.pageSize,
      pageSizeMax: Math.min(limits.pageSizeMax, capabilities.pageSizeMax ?? Infinity),
      resource,
      clock,
    });
    const isLocal = filters.some(({ name, value }) => name === 'local' && value === 'true');
    const countsUnshown = resource.path === '/temporal/entities';
    let proof: Promise<void> | undefined;
    /** The first query that listed something. */
    let listed: PageQuery | undefined;
    const view: QueryView = {
      resource,
      selection,
      showsAll: !isPartial,
      countsUnshown,
      paging: { contradicted: false, longestPage: 0 },
      lister: {
        showsAnything: (asked) => unchecked.showsAnything(asked),
        page: async (pageQuery) => {
          const page = await unchecked.page(pageQuery);
          await check(page, isLocal);
          if (page.ids.length > 0) listed ??= pageQuery;
          return page;
        },
      },
      proveFilters: () => (proof ??= prove()),
    };
    return view;

    async function prove(): Promise<void> {
      await Promise.all([
        proveFilters(filters, unchecked, capabilities, { additions, countsUnshown }),
        listed === undefined ? undefined : proveTenant(listed, requester.headers, unchecked, capabilities),
      ]);
      await learnStride({ ...view, capabilities });
    }
  }

  const scope: PurgeScope = {
    limits,
    requester,
    capabilities,
    ledger,
    warnings,
    clock,
    startedMs: clock.now(),
    emit,
    warn,
    deleter: createDeleter({
      requester,
      capabilities,
      path,
      strategy: limits.strategy === 'native' ? 'auto' : limits.strategy,
      batchSize: limits.batchSize,
      onSend: (ids) => void ledger.addNew(ids),
      onUnclear: (ids) => {
        for (const entityId of ids) ledger.markUnclear({ entityId });
      },
    }),
    reportProgress() {
      const hasBegun = ledger.matched > 0;
      emit({ type: 'progress', hasBegun, ...ledger.counts, ...effortOf(requester) });
    },
    open: (opened) => ({ ...scope, ...viewOf(opened) }),
  };
  return scope;
}
