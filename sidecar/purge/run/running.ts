import { PurgeStoppedError } from '../errors.js';
import { PurgePlaces, type PlaceKind } from './places.js';

/** The purges that are running in this process, so that a shutdown can stop them and wait. */
export interface RunningPurges {
  /**
   * Runs a purge, in a place of its kind, with a signal that aborts on stop() and when the caller's own signal does.
   *
   * @throws PurgeStoppedError after stop(), TooManyPurgesError when there is no place for it
   */
  run<Result>(
    kind: PlaceKind,
    caller: AbortSignal,
    purge: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>;
  /** Whether there is a place of a kind. */
  isFree(kind: PlaceKind): boolean;
  /** Stops all purges and refuses new ones. */
  stop(): void;
  /** Resolves when no purge is running. */
  idle(): Promise<void>;
  readonly count: number;
}

/** @param max purges at work at a time; dry runs have as many places of their own */
export function createRunningPurges(max: number): RunningPurges {
  const places = new PurgePlaces(max);
  const running = new Set<AbortController>();
  let isStopping = false;
  let waiting: (() => void)[] = [];
  return {
    async run(kind, caller, purge) {
      if (isStopping) {
        throw new PurgeStoppedError(
          'The gateway is shutting down and takes no new purges; nothing was deleted.',
        );
      }
      const leave = places.take(kind);
      const controller = new AbortController();
      const onAbort = () => controller.abort(caller.reason);
      if (caller.aborted) onAbort();
      caller.addEventListener('abort', onAbort, { once: true });
      running.add(controller);
      try {
        return await purge(controller.signal);
      } finally {
        caller.removeEventListener('abort', onAbort);
        running.delete(controller);
        leave();
        if (running.size === 0) {
          for (const wake of waiting) wake();
          waiting = [];
        }
      }
    },
    isFree: (kind) => places.isFree(kind),
    stop() {
      isStopping = true;
      for (const controller of running) controller.abort();
    },
    idle: async () => {
      if (running.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    get count() {
      return running.size;
    },
  };
}
