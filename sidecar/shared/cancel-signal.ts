/**
 * What long work needs of an AbortSignal; every AbortSignal is one. One that is made for each request had better be
 * something simpler: making AbortSignals, and collecting them, takes as long as a short request.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  /** Why it aborted. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
