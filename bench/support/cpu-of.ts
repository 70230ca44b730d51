import { readdir, readFile } from 'node:fs/promises';

/**
 * Returns the time that the threads of a process have run on a core so far, in milliseconds, from /proc (schedstat). This only
 * works on Linux; elsewhere the result is NaN. Threads that have ended are not included.
 */
export async function cpuMsOf(pid: number): Promise<number> {
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    const times = threads.map(async (thread) =>
      Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0]),
    );
    return (await Promise.all(times)).reduce((sum, ns) => sum + ns / 1e6, 0);
  } catch {
    return NaN;
  }
}
