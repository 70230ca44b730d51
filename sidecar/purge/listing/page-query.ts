import type { Parameter } from '../query/parameters.js';

/** What to ask the broker for. */
export interface PageQuery {
  readonly selection: readonly Parameter[];
  readonly offset?: number;
  /** Ask for the total as well (clause 4.13). */
  readonly count?: boolean;
  /** At most this many, where fewer than a page are wanted. */
  readonly limit?: number;
  /** Matches still to come, as far as that is known: the page may be larger than usual where they would fill it. */
  readonly expected?: number;
  /** Temporal entities: so many instances of each attribute are enough (lastN); 1 unless told. */
  readonly instances?: number;
  /** Temporal entities: createdAt and modifiedAt of the instances, which are not shown unasked (clause 6.3.11). */
  readonly needsTimes?: boolean;
  /** As the query's author would send it, without a projection. */
  readonly isBare?: boolean;
  /** Sent in place of the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How much of a page to ask for. */
export type PageShape = Pick<PageQuery, 'limit' | 'instances' | 'needsTimes' | 'isBare'>;
