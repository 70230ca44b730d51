/** What the duration of a broker's deletes and pages depends on; the constants are in shaped-broker.js. */
export interface BrokerShape {
  /** A delete always takes the same time, or takes longer the more entities are before it or after it. */
  readonly delete: 'constant' | 'from-head' | 'from-tail';
  /** A page always takes the same time, or takes longer the larger its offset or its size. */
  readonly page: 'constant' | 'by-offset' | 'by-size';
  readonly count: 'free' | 'costs-a-page';
  /** If false, each query shows the whole result. */
  readonly paging: boolean;
  /** A larger limit is refused. */
  readonly pageMax: number;
  /**
   * Approximate size of each entity in bytes, in answers to queries that do not ask for ids only; without it, entities have no
   * attributes.
   */
  readonly entityBytes?: number;
}

export type ShapedCommand =
  | { readonly do: 'start'; readonly shape: BrokerShape }
  | { readonly do: 'seed'; readonly ids: readonly string[] }
  | { readonly do: 'state' };

/** The URL for `start`, otherwise the number of remaining entities, and the number of requests since the last seed. */
export type ShapedAnswer = { readonly url: string } | { readonly left: number; readonly requests: number };
