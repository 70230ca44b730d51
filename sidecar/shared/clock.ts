import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A source of time, injected so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch: the time of day, which can be set. */
  now(): number;
  /**
   * Milliseconds since an arbitrary moment, to measure durations and expiry. It never goes back, advances at least as
   * much as time has passed, and keeps advancing while the process is stopped.
   */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason if the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * The processor time that a thread of this process has used so far, in milliseconds; the thread is given by its
   * system id. If the machine is busy, this is less than the elapsed time. Undefined if unknown.
   */
  readonly processorTimeMs?: (thread: string | undefined) => number | undefined;
}

/** The time that tasks of one piece of work have used together, in milliseconds. */
export interface UsedTime {
  usedMs: number;
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
};

/**
 * Waits for work, but only for a limited time.
 *
 * @param enough also ends the wait
 * @returns whether the work was done in time
 * @throws what the work throws in time
 */
export async function isDoneWithin(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: Promise<unknown>,
  enough?: AbortSignal,
): Promise<boolean> {
  const done = new AbortController();
  const signal = enough === undefined ? done.signal : AbortSignal.any([done.signal, enough]);
  const timeout = clock.sleep(ms, signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    done.abort();
  }
}

/** How far the time of day may drift from a steady clock before it counts as having been set, in milliseconds. */
const CLOCK_JUMP_MS = 1000;

/**
 * Makes the clock for `Clock.monotonicMs`. While the machine sleeps, only the time of day advances; so if it has jumped
 * forward, that much time may have passed.
 *
 * @param steadyMs a clock that is never set
 * @param wallClockMs the time of day
 */
export function createMonotonicClock(steadyMs: () => number, wallClockMs: () => number): () => number {
  let sleptMs = 0;
  let differenceMs = wallClockMs() - steadyMs();
  return () => {
    const nowMs = steadyMs();
    const forwardMs = wallClockMs() - nowMs - differenceMs;
    if (Math.abs(forwardMs) > CLOCK_JUMP_MS) {
      sleptMs += Math.max(0, forwardMs);
      differenceMs += forwardMs;
    }
    return nowMs + sleptMs;
  };
}

/** Returns the system id of the calling thread; undefined if the system does not provide it, as outside of Linux. */
export function systemThreadId(): string | undefined {
  try {
    return /^\d+\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1];
  } catch {
    return undefined;
  }
}

/** See `Clock.processorTimeMs`. @param thread the id from {@link systemThreadId} */
export function processorTimeMs(thread: string | undefined): number | undefined {
  if (thread === undefined) return undefined;
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ');
    const ms = Number(nanoseconds) / 1e6;
    // Systems that do not keep it report 0.
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
