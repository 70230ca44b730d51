import { setImmediate } from 'node:timers/promises';

/** Waits until all other due work has had its turn on the event loop: for long work done in pieces. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}

/** Gives each caller a turn of the event loop, one after the other, so that many large pieces of work do not block it. */
export class OneATurn {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn that no other caller has. */
  turn(): Promise<void> {
    this.#last = this.#last.then(nextTurn);
    return this.#last;
  }
}
