import { totalmem } from 'node:os';

const MIB = 2 ** 20;

/** The memory of this machine, or of its container if that is limited to less, in bytes. No limit is 0, or a huge number. */
export const MEMORY_BYTES = Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** With less memory, the system may end the gateway during an import, or while it judges large bodies. */
export const ENOUGH_MEMORY_BYTES = 512 * MIB;

/**
 * Returns the memory for bodies of one kind that are arriving. Their texts, and what is made of them, take several times that.
 *
 * @param limitBytes size of the largest body that is accepted: a single one always has room
 */
export function bodyMemoryBytes(limitBytes: number, memoryBytes = MEMORY_BYTES): number {
  return Math.max(limitBytes, Math.min(128 * MIB, Math.floor(memoryBytes / 12)));
}

/** Returns the size of the heap at which a worker is ended, in MB: half of the memory has room for two workers. */
export function workerHeapMb(memoryBytes = MEMORY_BYTES): number {
  return Math.min(256, Math.floor(memoryBytes / 4 / MIB));
}
