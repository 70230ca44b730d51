import type { Clock } from '../../shared/clock.js';
import type { Archiving, PurgeArchive } from '../archiving/index.js';
import type { BrokerCapabilities } from '../broker/index.js';
import type { Item, ItemError, ItemLedger, OnOutcome, PurgeCounts } from '../ledger/index.js';
import type { Listed, ListedResource, PageSource, PagingEvidence } from '../listing/index.js';
import type { QueryProof } from '../proof/index.js';
import type { Parameter, PurgeQuery } from '../query/index.js';
import type { OutageEvent, RequestDependencies, Requester, RequesterOptions } from '../requests/index.js';

/** How entities are deleted: `native` by the broker's own Purge Entities, the others by the gateway. */
type PurgeStrategy = 'auto' | 'batch' | 'single' | 'native';

/** How hard a purge may work: what its caller asks for, within the gateway's configuration. */
export interface PurgeLimits {
  /** Number of entities to ask for in one page. */
  readonly pageSize: number;
  /** Maximum number of entities in one page, for brokers that are faster with more than `pageSize`. */
  readonly pageSizeMax: number;
  /** Maximum number of ids in one batch delete. */
  readonly batchSize: number;
  /** Maximum number of delete requests in flight. */
  readonly concurrency: number;
  readonly strategy: PurgeStrategy;
  /** Maximum number of items that may be affected; undefined for no maximum. */
  readonly maxAffected: number | undefined;
}

/** What a purge needs from outside. */
export interface PurgeDependencies extends RequestDependencies {
  /** What was learnt about the collection that is purged. */
  readonly capabilities: BrokerCapabilities;
  /** Returns how far the gateway's clock is ahead of the broker's, in milliseconds; undefined if that is not known. */
  readonly brokerAheadMs?: (() => number | undefined) | undefined;
}

/** One purge: what to delete, with which headers and limits, and what accompanies it while it runs. */
export interface PurgeOrder<Query extends PurgeQuery = PurgeQuery> extends RequesterOptions {
  readonly query: Query;
  readonly limits: PurgeLimits;
  readonly onEvent?: ((event: PurgeEvent) => void) | undefined;
  /** Called with the outcome of each item; never for a purge that the broker does by itself. */
  readonly onOutcome?: OnOutcome | undefined;
  /** Where to archive what is deleted, before it is deleted. */
  readonly archive?: PurgeArchive | undefined;
  /** If there is a plan, only what is in it is deleted. */
  readonly plan?: AppliedPlan | undefined;
  /** For a dry run that makes a plan: called with the key of each match, perhaps more than once. */
  readonly onPlanned?: ((key: string) => void) | undefined;
}

/** A kind of purge: where it looks, and what it does. */
export interface PurgePlan {
  /** The collection that is purged. */
  readonly path: ListedResource['path'];
  /** Does the work, and returns the report. */
  readonly run: (scope: PurgeScope) => Promise<PurgeReport>;
  /** Whether the work reports its progress itself, because its items are not recorded one by one. */
  readonly reportsItself?: boolean;
}

/** What all parts of one purge share, whichever query they send. */
export interface PurgeScope
  extends Pick<PurgeOrder, 'limits' | 'plan' | 'onPlanned'>, Pick<PurgeDependencies, 'capabilities'> {
  readonly requester: Requester;
  /** Records every item; refuses more than `limits.maxAffected`. */
  readonly ledger: ItemLedger;
  readonly warnings: ReadonlySet<string>;
  /** Archives what is about to be deleted; undefined if nothing is archived. */
  readonly archiving: Archiving | undefined;
  /** For a purge that archives more than its lists show: archives it right before its delete. */
  readonly histories?: HistoryArchive;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /**
   * When the purge began, in milliseconds since the epoch: by the clock of the broker if that is known to be behind, otherwise
   * by this one.
   */
  readonly startedMs: () => number;
  readonly emit: (event: PurgeEvent) => void;
  /** Adds a warning to the report; at most ten are kept. */
  warn(warning: string): void;
  /** Emits a progress event. */
  reportProgress(): void;
  /** Opens a query. Nothing is sent yet. */
  open(query: BrokerQuery): PurgeContext;
}

/** Archives everything that a delete removes, if lists show only a part of it. */
export interface HistoryArchive {
  /** How many items to archive together now, and how many such groups at the same time. */
  readonly most: number;
  readonly atOnce: number;
  /**
   * Adds items to the archive, as the broker shows them now.
   *
   * @returns those that the query still shows, and when they were read
   */
  keep(items: readonly Item[]): Promise<{ readonly items: readonly Item[]; readonly listed: Listed }>;
}

/** A purge, and the query through which it sees the broker. */
export type PurgeContext = PurgeScope & QueryView;

/** The keys of what a dry run has found, as in the ledger. */
export interface AppliedPlan {
  has(key: string): boolean;
  readonly size: number;
}

/** A query: the caller's filters, and what the broker needs in addition. */
export interface BrokerQuery {
  readonly resource: ListedResource;
  /** The caller's filters. */
  readonly selection: readonly Parameter[];
  /** Parameters that the broker requires and that exclude no match. */
  readonly additions?: readonly Parameter[];
  /** Whether it shows only some of the matches, and other queries show the rest. */
  readonly isPartial?: boolean;
  /** Attributes that the purge names in addition, to drop or to keep. */
  readonly removed?: readonly string[] | undefined;
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
  readonly lister: PageSource;
  /** Whether an item that this query no longer lists is gone. */
  readonly showsAll: boolean;
  /** Whether the broker counts matches that it does not show, or shows empty pages before the end. */
  readonly countsUnshown: boolean;
  /** What the broker's counts and pages have revealed so far. */
  readonly paging: PagingEvidence;
  /** Whether the broker honours the query's filters, its tenant and its @context. */
  readonly proof: Pick<QueryProof, 'begin' | 'prove' | 'learnCounting'>;
}

/** Events of a running purge, in order. */
export type PurgeEvent =
  /** The broker's own count of matches, if it gives one. */
  | { readonly type: 'counted'; readonly matches: number }
  /** Deletes were answered: totals so far. */
  | ({ readonly type: 'progress' } & PurgeProgress)
  | OutageEvent
  /** Everything that was listed was tried. Checks and second tries follow. */
  | { readonly type: 'drained'; readonly matched: number }
  /** The purge ends early. The items that could not be deleted, at most 1000. */
  | { readonly type: 'failures'; readonly errors: readonly ItemError[] };

/** The result of a purge that ran to its end. Counts are in items: entities, attributes, datasets or instances. */
export interface PurgeReport extends PurgeCounts {
  readonly dryRun: boolean;
  /** Ids of entities that are gone or cleaned and have no failed item; at most 1000. */
  readonly success: readonly string[];
  /** At most 1000. */
  readonly errors: readonly ItemError[];
  /** For a dry run: ids of matching entities, at most 100. */
  readonly sample: readonly string[];
  /** For a dry run of a temporal purge: what its counts are in. */
  readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
  /** For a dry run: there are more than could be counted without deleting. */
  readonly isLowerBound?: boolean;
  /** For a dry run of parts of temporal entities: some of those parts, at most 100. */
  readonly items?: readonly Item[];
  /** For a dry run that matched nothing: sentences on why that may be. */
  readonly hints?: readonly string[];
  /**
   * Warnings of the purge. They include NGSILD-Warning values of the broker's answers: some context source is missing from the
   * result.
   */
  readonly warnings: readonly string[];
  /** Matches that turned up while the purge ran and were left alone. */
  readonly arrived: number;
  readonly requests: number;
  /** How many of them were sent again. */
  readonly retries: number;
}

/** What was done so far; after an early end, all that was done. */
export interface PurgeProgress extends PurgeCounts {
  /** Deletes were sent, or were about to be. */
  readonly hasBegun: boolean;
  readonly requests: number;
  /** How many of them were sent again. */
  readonly retries: number;
}
