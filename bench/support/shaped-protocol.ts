/** What the time of a broker's deletes and pages depends on; the constants are in shaped-broker.js. */
export interface BrokerShape {
  /** A delete takes the same time always, or longer the more entities are before it, or behind it. */
  readonly delete: 'constant' | 'from-head' | 'from-tail';
  /** A page takes longer the larger its offset is, or its size. */
  readonly page: 'constant' | 'by-offset' | 'by-size';
  readonly count: 'free' | 'costs-a-page';
  /** False: each query shows the whole result. */
  readonly paging: boolean;
  /** A larger limit is refused. */
  readonly pageMax: number;
  /** Bytes of each entity, roughly, in answers to queries that do not ask for ids only; without it, entities have no attributes. */
  readonly entityBytes?: number;
}

export type ShapedCommand =
  | { readonly do: 'start'; readonly shape: BrokerShape }
  | { readonly do: 'seed'; readonly ids: readonly string[] }
  | { readonly do: 'state' };

/** Its URL for `start`, else how many entities are left, and how many requests came since the last seed. */
export type ShapedAnswer = { readonly url: string } | { readonly left: number; readonly requests: number };
