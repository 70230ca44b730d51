import { readFileSync, readlinkSync } from 'node:fs';

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
