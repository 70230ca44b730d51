import type { BrokerMemory } from '../broker/index.js';
import { ItemLedger, type OnOutcome } from '../ledger/index.js';
import type { PurgeQuery } from '../query/index.js';
import type { Requester } from '../requests/index.js';
import type { Clock } from '../../shared/clock.js';
import type { PurgeEvent } from './events.js';
import { OpenedQuery, type BrokerQuery, type QueryView } from './query-view.js';

/** How entities are deleted: `native` by the broker's own Purge Entities, the others by the gateway. */
export type PurgeStrategy = 'auto' | 'batch' | 'single' | 'native';

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
  readonly strategy: PurgeStrategy;
  /** Most items that may be affected; undefined for no bound. */
  readonly maxAffected: number | undefined;
}

/** What all parts of one purge share, whichever query they send. */
export interface PurgeScope {
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerMemory;
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

/** A purge, and the query through which it sees the broker. */
export type PurgeContext = PurgeScope & QueryView;

export interface PurgeScopeOptions {
  readonly query: PurgeQuery;
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerMemory;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: (event: PurgeEvent) => void;
  readonly onOutcome?: OnOutcome | undefined;
}

const MAX_WARNINGS = 10;

/** What the parts of one purge share, before any query is opened. */
export function createPurgeScope(options: PurgeScopeOptions): PurgeScope {
  const { query, limits, requester, capabilities, clock, emit } = options;
  const ledger = new ItemLedger(limits.maxAffected, options.onOutcome);
  const warnings = new Set<string>();
  const named = query.ids === undefined ? undefined : new Set(query.ids);
  const scope: PurgeScope = {
    ...{ limits, requester, capabilities, ledger, warnings, clock, emit },
    startedMs: clock.now(),
    warn(warning) {
      if (warnings.size < MAX_WARNINGS) warnings.add(warning);
    },
    reportProgress() {
      const hasBegun = ledger.matched > 0;
      emit({ type: 'progress', hasBegun, ...ledger.counts, ...requester.effort });
    },
    open: (opened) => ({ ...scope, ...new OpenedQuery(scope, opened, named, query.idPattern).view }),
  };
  return scope;
}
