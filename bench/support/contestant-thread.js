/** A thread in which one contestant works, and nothing else: what others do to the same code does not matter to it. */
import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

// Threads do not have the loader of the thread that starts them.
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
 * Does the work so many times.
 *
 * @param {number} times
 * @returns how often a second
 */
async function rateOf(times) {
  const startedMs = performance.now();
  for (let n = 0; n < times; n++) await work();
  return (times / (performance.now() - startedMs)) * 1000;
}
