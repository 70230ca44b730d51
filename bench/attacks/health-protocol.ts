/** Commands for the process that watches a gateway's health. */
export type WatchCommand =
  | { readonly do: 'watch'; readonly url: string; readonly pid: number }
  | { readonly do: 'report' };

/** The result of watching. */
export interface HealthReport {
  asked: number;
  /** Answers other than 200, and connections that broke. */
  failed: number;
  worstMs: number;
  /** When the slowest request was sent, relative to the start of the watch. */
  worstAtMs: number;
  p99Ms: number;
  /**
   * The longest time that the gateway's main thread was running during one request; the rest of the time it waited, e.g. for a
   * core.
   */
  worstBusyMs: number;
}
