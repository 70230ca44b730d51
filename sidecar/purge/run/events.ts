import type { Item, ItemError, PurgeCounts } from '../ledger/index.js';
import type { OutageEvent } from '../requests/index.js';

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
