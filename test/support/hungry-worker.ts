import { serve } from '../../sidecar/shared/workers/tasks.js';

/** A worker's module whose tasks take as much memory as they are told, or tell about the worker. */
serve({
  fill(size: number): number {
    if (size < 0) throw new RangeError('a negative size');
    const held: unknown[] = [];
    while (held.length < size) held.push(Array.from({ length: held.length }, () => ({})));
    return held.length;
  },
  /** A Map doubles with one allocation. */
  fillMap(): number {
    const held = new Map<number, unknown>([[0, new Array(13_000_000).fill(0)]]);
    for (;;) held.set(held.size, 0);
  },
  environment(): readonly string[] {
    return Object.keys(process.env);
  },
});
