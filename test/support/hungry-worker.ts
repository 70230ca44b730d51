import { serve } from '../../sidecar/shared/workers/tasks.js';

/** The module of a worker whose tasks take as much memory as requested, or describe the worker. */
serve({
  fill(size: number): number {
    if (size < 0) throw new RangeError('a negative size');
    const held: unknown[] = [];
    while (held.length < size) held.push(Array.from({ length: held.length }, () => ({})));
    return held.length;
  },
  /** A Map doubles its size with a single allocation. */
  fillMap(): number {
    const held = new Map<number, unknown>([[0, new Array(13_000_000).fill(0)]]);
    for (;;) held.set(held.size, 0);
  },
  environment(): readonly string[] {
    return Object.keys(process.env);
  },
});
