import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { resolveReferencesIn } from '../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from './validator.js';
import { serve } from '../../sidecar/shared/workers/tasks.js';

/** The module of a worker whose tasks take as much memory as requested, or say how much compiling takes, or describe the worker. */
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
  /** Compiles different schemas, drops them, and returns by how much the heap has grown, in bytes for each. */
  compile(count: number): number {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const usedBytes = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const compileAll = (from: number) => {
      for (let number = from; number < from + count; number += 1) {
        const names = Array.from({ length: 20 }, (_, index) => `attribute${number}_${index}`);
        const properties = Object.fromEntries(names.map((name) => [name, { type: 'number', minimum: 0 }]));
        createValidator(resolveReferencesIn({ properties }))({});
      }
    };
    compileAll(0);
    const before = usedBytes();
    compileAll(count);
    return (usedBytes() - before) / count;
  },
  environment(): readonly string[] {
    return Object.keys(process.env);
  },
});
