import type { BenchOptions } from '../support/bench.js';
import { cpuMsOf } from '../support/cpu-of.js';
import type { Curve, Plot } from '../support/plot.js';

/** Measures the curves of some plots. */
export type GrowthBench = (options: BenchOptions) => Promise<readonly Plot[]>;

/** Collects the points of curves, in the order in which the curves were named. */
export class Curves {
  readonly #points: ReadonlyMap<string, [number, number][]>;
  readonly #isLimit: (name: string) => boolean;

  constructor(names: readonly string[], isLimit: (name: string) => boolean) {
    this.#points = new Map(names.map((name) => [name, []]));
    this.#isLimit = isLimit;
  }

  add(name: string, x: number, y: number): void {
    this.#points.get(name)?.push([x, y]);
  }

  all(): readonly Curve[] {
    return Array.from(this.#points, ([name, points]) => ({ name, points, isLimit: this.#isLimit(name) }));
  }
}

/** Returns the minimum of some rounds: anything else that runs on the machine only makes a round slower. */
export async function minimumOf(rounds: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) least = Math.min(least, await measure());
  return least;
}

/** Returns the CPU time of all threads of a process during some work, in milliseconds. Waiting for a core is not included. */
export async function cpuTimed(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = await cpuMsOf(pid);
  await work();
  return (await cpuMsOf(pid)) - before;
}
