/** What the process of the attacking broker is told; it answers `start` with its URL. */
export type BrokerCommand = { readonly do: 'start' } | { readonly do: 'report' };

/** What it was made to delete. */
export interface BrokerReport {
  /** Entities that might be deleted. */
  deleted: number;
  /** Deletes of anything else, or under a tenant. */
  outside: number;
}
