/** Commands for the process of the attacking broker; it answers `start` with its URL. */
export type BrokerCommand = { readonly do: 'start' } | { readonly do: 'report' };

/** What the broker was asked to delete. */
export interface BrokerReport {
  /** Deleted entities that a request was allowed to delete. */
  deleted: number;
  /** Deletes of anything else, or with a tenant. */
  outside: number;
}
