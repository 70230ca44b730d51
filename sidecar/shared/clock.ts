import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Time, injected so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
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
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
  processorTimeMs,
  processTimeMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

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
