import { readFile } from 'node:fs/promises';

/** Resident memory of a process, in bytes. */
export interface ProcessMemory {
  /** Currently. */
  readonly resident: number;
  /** At its peak. */
  readonly peak: number;
}

/**
 * Reads the resident memory of a process from /proc (proc(5): VmRSS and VmHWM), which only Linux has.
 *
 * @throws Error on other systems, or if there is no such process
 */
export async function memoryOf(pid: number): Promise<ProcessMemory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return { resident: bytesOf(status, 'VmRSS'), peak: bytesOf(status, 'VmHWM') };
}

function bytesOf(status: string, name: string): number {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kib === undefined) throw new Error(`/proc tells no ${name} of the process.`);
  return Number(kib) * 1024;
}
