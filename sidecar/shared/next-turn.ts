import { setImmediate } from 'node:timers/promises';

/** Waits until all other due work has had its turn on the event loop: for long work done in pieces. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}

/**
 * Lets new connections go first. The event loop takes in one for each turn (libuv does since 1.46), so the last of five hundred
 * that come at once waits for five hundred turns: until then they have to be short.
 */
export class NewConnections {
  #arrived = 0;

  /** To be called for each connection. */
  note(): void {
    this.#arrived += 1;
  }

  /** Resolves after a turn that brought none, or after a hundred: a flood of connections slows work down, but never stops it. */
  async pass(): Promise<void> {
    for (let turns = 1; turns <= MAX_TURNS; turns += 1) {
      const before = this.#arrived;
      await nextTurn();
      if (this.#arrived === before) return;
    }
  }
}

const MAX_TURNS = 100;

/** Gives each caller a turn of the event loop, one after the other, so that many large pieces of work do not block it. */
export class TurnQueue {
  readonly #newConnections: NewConnections | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param newConnections they go first */
  constructor(newConnections?: NewConnections) {
    this.#newConnections = newConnections;
  }

  /** Resolves in a turn that no other caller has. */
  turn(): Promise<void> {
    this.#last = this.#last.then(async () => this.#newConnections?.pass() ?? nextTurn());
    return this.#last;
  }
}
