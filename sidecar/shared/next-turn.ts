import { setImmediate } from 'node:timers/promises';

/** Waits until everything else that is due has had its turn on the event loop: for long work done in pieces. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}
