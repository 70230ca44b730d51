import { setImmediate } from 'node:timers/promises';

/** Waits until everything else that is due has had its turn on the event loop: for long work done in pieces. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}

/** Lets one after the other have a turn of the event loop to themselves, so that much work at once holds up nobody else. */
export class OneATurn {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn in which nobody else is let through. */
  turn(): Promise<void> {
    this.#last = this.#last.then(nextTurn);
    return this.#last;
  }
}
