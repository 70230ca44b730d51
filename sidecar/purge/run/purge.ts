import type { Clock } from '../../shared/clock.js';
import type { Archiving, PurgeArchive } from '../archiving/index.js';
import type { BrokerMemory } from '../broker/index.js';
import type { Item, ItemError, ItemLedger, OnOutcome, PurgeCounts } from '../ledger/index.js';
import type { Listed, ListedResource, PageShape, PageSource, PagingEvidence } from '../listing/index.js';
import type { Parameter, PurgeQuery } from '../query/index.js';
import type { OutageEvent, RequestDependencies, Requester, RequestOrder } from '../requests/index.js';

/** How entities are deleted: `native` by the broker's own Purge Entities, the others by the gateway. */
type PurgeStrategy = 'auto' | 'batch' | 'single' | 'native';

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

/** What a purge needs from outside. */
export interface PurgeDependencies extends RequestDependencies {
  /** What was learnt about the collection that is purged. */
  readonly capabilities: BrokerMemory;
  /** How far the clock is ahead of the broker's, in milliseconds; undefined where that is not known. */
  readonly brokerAheadMs?: (() => number | undefined) | undefined;
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

/** A kind of purge: where it looks, and what it does. */
export interface PurgePlan {
  /** The collection that is purged. */
  readonly path: ListedResource['path'];
  /** Does the work, and returns what it came to. */
  readonly run: (scope: PurgeScope) => Promise<PurgeReport>;
  /** The work is not booked item by item; it reports by itself how far it is. */
  readonly reportsItself?: boolean;
}

/** What all parts of one purge share, whichever query they send. */
export interface PurgeScope {
  readonly limits: PurgeLimits;
  readonly requester: Requester;
  readonly capabilities: BrokerMemory;
  /** Records every item; refuses more than `limits.maxAffected`. */
  readonly ledger: ItemLedger;
  readonly warnings: ReadonlySet<string>;
  /** Takes what is about to be deleted; undefined where nothing is archived. */
  readonly archiving: Archiving | undefined;
  /** Of a purge that archives more than lists show: archives it right before its delete. */
  readonly histories?: HistoryArchive;
  /** Of a purge that applies a plan: what may be deleted, and nothing else. */
  readonly plan: AppliedPlan | undefined;
  /** Of a dry run that makes a plan: receives the key of each match. */
  readonly onPlanned: ((key: string) => void) | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** When the purge began, in milliseconds since the epoch: by the clock of the broker, as far as that is known. */
  readonly startedMs: () => number;
  readonly emit: (event: PurgeEvent) => void;
  /** Adds a warning to the report; at most ten are kept. */
  warn(warning: string): void;
  /** Emits a progress event. */
  reportProgress(): void;
  /** Opens a query. Nothing is sent yet. */
  open(query: BrokerQuery): PurgeContext;
}

/** Archives all that a delete removes where lists show only a part of it. */
export interface HistoryArchive {
  /** Items that are best archived together, as of now, and how many such groups at the same time. */
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

/** What a dry run has found, by the keys of the ledger. */
export interface AppliedPlan {
  has(key: string): boolean;
  readonly size: number;
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
  /** Attributes that the purge names besides, to drop or to keep. */
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
  /** An item that this query no longer lists is gone. */
  readonly showsAll: boolean;
  /** The broker counts matches that it does not show, or shows empty pages before the end. */
  readonly countsUnshown: boolean;
  /** What the broker's counts and pages have revealed so far. */
  readonly paging: PagingEvidence;
  /**
   * Asks beside the first page what the proof of the query needs to know.
   *
   * @param shape of that page
   * @returns when it is answered; never rejects
   */
  beginProof(shape: PageShape): Promise<void>;
  /**
   * Proves, once, that the broker honours the query's filters, its tenant and its @context. Required before listed ids are used.
   *
   * @throws FilterIgnoredError
   */
  proveFilters(): Promise<void>;
  /** See `learnCounting` of proof/. */
  learnCounting(): Promise<boolean>;
}

/** News of a running purge, in order. */
export type PurgeEvent =
  /** The broker's own count of matches, where it gives one. */
  | { readonly type: 'counted'; readonly matches: number }
  /** Deletes were answered: totals so far. */
  | ({ readonly type: 'progress' } & PurgeProgress)
  | OutageEvent
  /** All that was listed was tried; what follows are checks and second tries. */
  | { readonly type: 'drained'; readonly matched: number }
  /** The purge ends early: what became of items that could not be deleted; at most 1000. */
  | { readonly type: 'failures'; readonly errors: readonly ItemError[] };

/** The end of a purge that ran to its end. Counts are in items: entities, attributes, datasets or instances. */
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
  /** NGSILD-Warning values of the broker's answers: some context source is missing from the result. */
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
