import type { BrokerCapabilities } from './broker/capabilities.js';
import type { Clock } from '../shared/clock.js';
import { createDeleter, type Deleter, type DeleteStrategy } from './deleter.js';
import { FilterIgnoredError, TooManyMatchesError } from './errors.js';
import type { PurgeEvent } from './events.js';
import { createIdGuard } from './proof/id-guard.js';
import { IdState } from './id-ledger.js';
import type { ListedResource } from './listing/listed-resource.js';
import { createLister, type Lister } from './listing/listing.js';
import type { Page, PageQuery } from './listing/page.js';
import { learnStride } from './listing/page-first.js';
import type { Parameter } from './query/parameters.js';
import { proveFilters } from './proof/prober.js';
import { effortOf, type Requester } from './requests/requester.js';
import type { PurgeQuery } from './query/selection.js';
import { proveTenant } from './proof/tenant-proof.js';
import { Tally, type Item } from './tally.js';
import type { PagingEvidence } from './listing/walk.js';

/** How hard a purge may work; what its caller and the gateway's configuration came to. */
export interface PurgeLimits {
  /** Entities asked for in one page. */
  readonly pageSize: number;
  /** Most entities in one page, where the broker is quicker with larger ones than `pageSize`. */
  readonly pageSizeMax: number;
  /** Ids in one batch delete. */
  readonly batchSize: number;
  /** Delete requests in flight. */
  readonly concurrency: number;
  readonly strategy: DeleteStrategy | 'native';
  /** Most items that may be affected; undefined for no bound. */
  readonly maxAffected: number | undefined;
}

/** What the parts of one purge share, through whatever query they look at the broker. */
export interface PurgeScope {
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly deleter: Deleter;
  readonly tally: Tally;
  readonly warnings: ReadonlySet<string>;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: (event: PurgeEvent) => void;
  /**
   * Takes an item never seen before, which is then pending.
   *
   * @throws TooManyMatchesError when that would affect more than is allowed
   */
  take(item: Item): void;
  /** Tells the listeners how far the purge is. */
  reportProgress(): void;
  /** Looks at the broker through a query; see PurgeContext. */
  open(view: View): PurgeContext;
}

/** A query, as the caller gave it and as the broker is asked. */
export interface View {
  readonly resource: ListedResource;
  /** The caller's filters. */
  readonly selection: readonly Parameter[];
  /** What is added for the broker's sake, without restricting the matches. */
  readonly additions?: readonly Parameter[];
  /** Shows some of what is purged; other queries show the rest. */
  readonly isPartial?: boolean;
}

/** A purge that looks at the broker through one query. */
export interface PurgeContext extends PurgeScope {
  /** The query as the broker is asked. */
  readonly selection: readonly Parameter[];
  /**
   * Lists pages, each checked before anything of it is used: its warnings are kept, its ids are held against the query.
   *
   * Besides what a lister throws: UnexpectedEntityError for an id that the query excludes, FilterIgnoredError when a
   * page shows that the broker did not stay local.
   */
  readonly lister: Lister;
  /** What this query no longer lists is gone. */
  readonly showsAll: boolean;
  /** The broker counts matches that it does not show, or shows pages that come empty before the end. */
  readonly countsUnshown: boolean;
  /** What was seen of the broker's counts and pages. */
  readonly paging: PagingEvidence;
  /**
   * Takes the ids never seen before, which are then pending.
   *
   * @throws TooManyMatchesError when that would affect more than is allowed
   */
  takeFresh(ids: readonly string[]): readonly string[];
  /**
   * Proves, once, that the broker honours the filters of the query and the tenant; due before anything listed is used.
   *
   * @throws FilterIgnoredError
   */
  proveFilters(): Promise<void>;
}

export interface PurgeScopeOptions {
  readonly query: PurgeQuery;
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: (event: PurgeEvent) => void;
}

const WARNINGS_MAX = 10;

/** @param path the collection whose entities are deleted */
export function createPurgeScope(options: PurgeScopeOptions, path: ListedResource['path']): PurgeScope {
  const { query, limits, requester, capabilities, clock, emit } = options;
  const tally = new Tally();
  const warnings = new Set<string>();
  const guard = createIdGuard(query.ids, query.idPattern);

  function boundTo(affected: number): void {
    if (limits.maxAffected !== undefined && affected > limits.maxAffected) {
      throw new TooManyMatchesError(affected, limits.maxAffected, false);
    }
  }

  async function check(page: Page, isLocal: boolean): Promise<void> {
    if (page.warning !== undefined && warnings.size < WARNINGS_MAX) warnings.add(page.warning);
    if (isLocal && page.madeEntityMap) {
      const detail =
        'The broker asked its context sources in spite of local=true, so this purge would reach too much. Nothing more is deleted.';
      throw new FilterIgnoredError('local', detail);
    }
    await guard.check(page.ids);
  }

  const scope: PurgeScope = {
    limits,
    requester,
    capabilities,
    tally,
    warnings,
    clock,
    emit,
    deleter: createDeleter({
      requester,
      capabilities,
      path,
      strategy: limits.strategy === 'native' ? 'auto' : limits.strategy,
      batchSize: limits.batchSize,
      onUnclear: (ids) => {
        for (const entityId of ids) tally.noteUnclear({ entityId });
      },
    }),
    take(item) {
      boundTo(tally.ledger.size + 1);
      tally.take(item);
    },
    reportProgress() {
      const hasBegun = tally.matched > 0;
      emit({ type: 'progress', hasBegun, ...tally.counts, ...effortOf(requester) });
    },
    open({ resource, selection: filters, additions = [], isPartial = false }) {
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
      const context: PurgeContext = {
        ...scope,
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
        takeFresh(ids) {
          const fresh = [...new Set(ids)].filter((id) => tally.ledger.get(id) === IdState.unknown);
          boundTo(tally.ledger.size + fresh.length);
          for (const entityId of fresh) tally.take({ entityId });
          return fresh;
        },
        proveFilters: () => (proof ??= prove()),
      };
      return context;

      async function prove(): Promise<void> {
        await Promise.all([
          proveFilters(filters, unchecked, capabilities, { additions, countsUnshown }),
          listed === undefined ? undefined : proveTenant(listed, requester.headers, unchecked, capabilities),
        ]);
        await learnStride(context);
      }
    },
  };
  return scope;
}
