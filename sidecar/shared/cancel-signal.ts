/**
 * The part of an AbortSignal that long-running work needs; every AbortSignal has it. Short requests use something
 * cheaper (`http/client-disconnect.ts`), because creating and collecting an AbortSignal takes 8 µs.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  /** Why it aborted. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
