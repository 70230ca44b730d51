/** A thread in which only one contestant runs, so that its code is not affected by how other contestants use it. */
import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

// Threads do not inherit the loader of the thread that starts them.
register();
const { CONTESTANTS } = await import('./workbench-contestants.js');

/** @type {Readonly<Record<string, () => () => unknown>>} */
const contestants = CONTESTANTS;
const contestant = contestants[String(workerData)];
if (contestant === undefined) throw new Error(`There is no contestant ${String(workerData)}.`);
const work = contestant();

parentPort?.on('message', (times) => {
  void rateOf(Number(times)).then((rate) => parentPort?.postMessage(rate));
});

/**
 * Repeats the work.
 *
 * @param {number} times
 * @returns repetitions per second
 */
async function rateOf(times) {
  const startedMs = performance.now();
  for (let n = 0; n < times; n++) await work();
  return (times / (performance.now() - startedMs)) * 1000;
}
