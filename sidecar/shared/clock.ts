import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Time, injected so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch: the time of day, which may be set. */
  now(): number;
  /**
   * Milliseconds since some moment, for how long something takes or is good for: at least as many as have passed. It is never set
   * back, and goes on while this process is stopped.
   */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * The processor time in milliseconds that a thread of this process has had so far, by what the system calls the thread. Beside
   * other work on the machine it is less than the time that has passed. Undefined where it is not known.
   */
  readonly processorTimeMs?: (thread: string | undefined) => number | undefined;
  /** The processor time in milliseconds that this process has had so far, in all of its threads. */
  readonly processTimeMs?: () => number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: createMonotonicClock(
    () => performance.now(),
    () => Date.now(),
  ),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
  processorTimeMs,
  processTimeMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** How much the time of day may differ from a clock that is never set before it was set, in milliseconds. */
const SET_MS = 1000;

/**
 * See `Clock`. While the machine sleeps, only the time of day goes on: where that is set forward, as much may have passed.
 *
 * @param steadyMs never set
 * @param dayMs the time of day
 */
export function createMonotonicClock(steadyMs: () => number, dayMs: () => number): () => number {
  let sleptMs = 0;
  let differenceMs = dayMs() - steadyMs();
  return () => {
    const nowMs = steadyMs();
    const forwardMs = dayMs() - nowMs - differenceMs;
    if (Math.abs(forwardMs) > SET_MS) {
      sleptMs += Math.max(0, forwardMs);
      differenceMs += forwardMs;
    }
    return nowMs + sleptMs;
  };
}

/** What the system calls the thread that asks; undefined where it does not say so, as outside of Linux. */
export function systemThread(): string | undefined {
  try {
    return /^\d+\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1];
  } catch {
    return undefined;
  }
}

/** See `Clock`. @param thread as {@link systemThread} has it */
export function processorTimeMs(thread: string | undefined): number | undefined {
  if (thread === undefined) return undefined;
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ');
    const ms = Number(nanoseconds) / 1e6;
    // A system that does not keep it says 0.
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
