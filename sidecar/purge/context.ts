import type { BrokerCapabilities } from '../broker/capabilities.js';
import { createDeleter, type Deleter, type DeleteStrategy } from './deleter.js';
import { FilterIgnoredError, TooManyMatchesError } from './errors.js';
import type { PurgeEvent } from './events.js';
import { createIdGuard } from './id-guard.js';
import { IdState } from './id-ledger.js';
import { createLister, type Lister } from './listing.js';
import type { Page } from './page.js';
import { proveFilters } from './prober.js';
import type { EntityPurgeQuery } from './query.js';
import type { Requester } from './requester.js';
import { Tally } from './tally.js';
import type { PagingEvidence } from './walk.js';

/** How hard a purge may work; what its caller and the gateway's configuration came to. */
export interface PurgeLimits {
  /** Entities asked for in one page. */
  readonly pageSize: number;
  /** Ids in one batch delete. */
  readonly batchSize: number;
  /** Delete requests in flight. */
  readonly concurrency: number;
  readonly strategy: DeleteStrategy | 'native';
  /** Most items that may be affected; undefined for no bound. */
  readonly maxAffected: number | undefined;
}

/** Everything that the parts of one purge share. */
export interface PurgeContext {
  readonly query: EntityPurgeQuery;
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  /**
   * Lists pages, each checked before anything of it is used: its warnings are kept, its ids are held against the query.
   *
   * Besides what a lister throws: UnexpectedEntityError for an id that the query excludes, FilterIgnoredError when a
   * page shows that the broker did not stay local.
   */
  readonly lister: Lister;
  readonly deleter: Deleter;
  readonly tally: Tally;
  /** What was seen of the broker's counts and pages. */
  readonly paging: PagingEvidence;
  readonly warnings: ReadonlySet<string>;
  readonly emit: (event: PurgeEvent) => void;
  /**
   * Takes the ids never seen before, which are then pending.
   *
   * @throws TooManyMatchesError when that would affect more than is allowed
   */
  takeFresh(ids: readonly string[]): readonly string[];
  /**
   * Proves, once, that the broker honours the filters of the query; due before anything listed is used.
   *
   * @throws FilterIgnoredError
   */
  proveFilters(): Promise<void>;
  /** Tells the listeners how far the purge is. */
  reportProgress(): void;
}

export interface PurgeContextOptions {
  readonly query: EntityPurgeQuery;
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerCapabilities;
  readonly emit: (event: PurgeEvent) => void;
}

const WARNINGS_MAX = 10;

export function createPurgeContext(options: PurgeContextOptions): PurgeContext {
  const { query, limits, requester, capabilities, emit } = options;
  const tally = new Tally();
  const warnings = new Set<string>();
  const guard = createIdGuard(query.ids, query.idPattern);
  const isLocal = query.selection.some(({ name, value }) => name === 'local' && value === 'true');

  const uncheckedLister = createLister({
    requester,
    capabilities,
    pageSize: limits.pageSize,
    content: query.removal === undefined ? 'ids' : 'attributes',
  });
  const lister: Lister = {
    showsAnything: (selection) => uncheckedLister.showsAnything(selection),
    page: async (pageQuery) => {
      const page = await uncheckedLister.page(pageQuery);
      check(page);
      return page;
    },
  };
  let proof: Promise<void> | undefined;

  function check(page: Page): void {
    if (page.warning !== undefined && warnings.size < WARNINGS_MAX) warnings.add(page.warning);
    if (isLocal && page.madeEntityMap) {
      const detail =
        'The broker asked its context sources in spite of local=true, so this purge would reach too much. Nothing more is deleted.';
      throw new FilterIgnoredError('local', detail);
    }
    for (const id of page.ids) guard.check(id);
  }

  return {
    query,
    limits,
    requester,
    capabilities,
    tally,
    warnings,
    emit,
    paging: { contradicted: false, longestPage: 0 },
    lister,
    deleter: createDeleter({
      requester,
      capabilities,
      strategy: limits.strategy === 'native' ? 'auto' : limits.strategy,
      batchSize: limits.batchSize,
    }),
    takeFresh(ids) {
      const fresh = [...new Set(ids)].filter((id) => tally.ledger.get(id) === IdState.unknown);
      const affected = tally.ledger.size + fresh.length;
      if (limits.maxAffected !== undefined && affected > limits.maxAffected) {
        throw new TooManyMatchesError(affected, limits.maxAffected, false);
      }
      for (const entityId of fresh) tally.take({ entityId });
      return fresh;
    },
    proveFilters: () => (proof ??= proveFilters(query.selection, uncheckedLister, capabilities)),
    reportProgress() {
      const { matched, deleted, failed } = tally;
      emit({ type: 'progress', hasBegun: matched > 0, deleted, failed, requests: requester.requests });
    },
  };
}
