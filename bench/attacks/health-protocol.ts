/** What the process that watches a gateway's health is told. */
export type WatchCommand =
  | { readonly do: 'watch'; readonly url: string; readonly pid: number }
  | { readonly do: 'report' };

/** What it saw. */
export interface HealthReport {
  asked: number;
  /** Answers other than 200, and connections that broke. */
  failed: number;
  worstMs: number;
  /** When the worst one was asked, since the watch began. */
  worstAtMs: number;
  p99Ms: number;
  /** The most that the gateway's main thread was at work while an answer was due; the rest it waited, e.g. for a core. */
  worstBusyMs: number;
}
