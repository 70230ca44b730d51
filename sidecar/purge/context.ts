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
import type { CountTrust } from './walk.js';

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
  readonly lister: Lister;
  readonly deleter: Deleter;
  readonly tally: Tally;
  readonly counts: CountTrust;
  readonly warnings: ReadonlySet<string>;
  readonly emit: (event: PurgeEvent) => void;
  /**
   * Looks at a page before anything of it is used: keeps its warnings, checks its ids.
   *
   * @throws UnexpectedEntityError for an id that the query excludes
   * @throws FilterIgnoredError when the page shows that the broker did not stay local
   */
  note(page: Page): void;
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

  const lister = createLister({
    requester,
    capabilities,
    pageSize: limits.pageSize,
    content: query.removal === undefined ? 'ids' : 'attributes',
  });
  let proof: Promise<void> | undefined;

  return {
    query,
    limits,
    requester,
    capabilities,
    tally,
    warnings,
    emit,
    counts: { contradicted: false },
    lister,
    deleter: createDeleter({
      requester,
      capabilities,
      strategy: limits.strategy === 'native' ? 'auto' : limits.strategy,
      batchSize: limits.batchSize,
    }),
    note(page) {
      if (page.warning !== undefined && warnings.size < WARNINGS_MAX) warnings.add(page.warning);
      if (isLocal && page.madeEntityMap) {
        const detail =
          'The broker asked its context sources in spite of local=true, so this purge would reach too much. Nothing more is deleted.';
        throw new FilterIgnoredError('local', detail);
      }
      for (const id of page.ids) guard.check(id);
    },
    takeFresh(ids) {
      const fresh = [...new Set(ids)].filter((id) => tally.ledger.get(id) === IdState.unknown);
      const affected = tally.ledger.size + fresh.length;
      if (limits.maxAffected !== undefined && affected > limits.maxAffected) {
        throw new TooManyMatchesError(affected, limits.maxAffected, false);
      }
      for (const entityId of fresh) tally.take({ entityId });
      return fresh;
    },
    proveFilters: () => (proof ??= proveFilters(query.selection, lister, capabilities)),
    reportProgress() {
      const { matched, deleted, failed } = tally;
      emit({ type: 'progress', hasBegun: matched > 0, deleted, failed, requests: requester.requests });
    },
  };
}
