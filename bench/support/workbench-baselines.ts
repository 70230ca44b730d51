import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { spreadOf } from './statistics.js';
import { samplesMegabytes, type Contestant } from './workbench-contestants.js';
import { sized } from './command.js';

/** Operations per second, with each contestant on a separate thread; inference in MB/s. */
export type InThreads = Readonly<Record<Contestant, number>>;

const VALIDATIONS = sized({ quick: 4_000, default: 20_000 });
const PROCESSED = sized({ quick: 1_000, default: 4_000 });

/** The contestants of the workbench, in pairs. */
export class Baselines {
  readonly #workers = new Map<Contestant, Worker>();

  /** Runs a round; even rounds begin with the library. */
  async round(isEven: boolean): Promise<InThreads> {
    const [bareExpand, ownExpand] = await this.#inTurns(isEven, PROCESSED, 'bareExpand', 'ownExpand');
    const [bareCompact, ownCompact] = await this.#inTurns(isEven, PROCESSED, 'bareCompact', 'ownCompact');
    const [genson, infer] = await this.#inTurns(isEven, SLICES, 'genson', 'infer');
    const [ajv, judge] = await this.#inTurns(isEven, VALIDATIONS, 'ajv', 'judge');
    const megabytes = samplesMegabytes();
    return {
      ajv,
      judge,
      bareExpand,
      ownExpand,
      bareCompact,
      ownCompact,
      genson: genson * megabytes,
      infer: infer * megabytes,
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.terminate()));
  }

  async #inTurns(isEven: boolean, times: number, one: Contestant, other: Contestant) {
    return measureAlternating(
      isEven,
      times,
      (slice) => this.#rate(one, slice),
      (slice) => this.#rate(other, slice),
    );
  }

  async #rate(contestant: Contestant, times: number): Promise<number> {
    const worker = this.#workers.get(contestant) ?? threadOf(contestant);
    this.#workers.set(contestant, worker);
    worker.postMessage(times);
    const [rate] = (await once(worker, 'message')) as [number];
    return rate;
  }
}

function threadOf(contestant: Contestant): Worker {
  return new Worker(new URL('./contestant-thread.js', import.meta.url), { workerData: contestant });
}

/**
 * Measures two contestants that alternate many times; the first one starts in even rounds. Other load on the machine affects
 * both equally, and outliers in single turns do not count.
 */
export async function measureAlternating(
  isEven: boolean,
  times: number,
  one: (times: number) => Promise<number>,
  other: (times: number) => Promise<number>,
): Promise<readonly [number, number]> {
  const slice = Math.max(1, Math.round(times / SLICES));
  const rates: [number[], number[]] = [[], []];
  for (let turn = 0; turn < SLICES; turn += 1) {
    for (const index of isEven ? ([0, 1] as const) : ([1, 0] as const))
      rates[index].push(await (index === 0 ? one : other)(slice));
  }
  return [spreadOf(rates[0]).median, spreadOf(rates[1]).median];
}

const SLICES = 20;
