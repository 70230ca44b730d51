import { setImmediate } from 'node:timers/promises';

/** Waits until all other due work has had its turn on the event loop: for long work done in pieces. */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
}

/**
 * Lets new connections go first. The event loop accepts one connection per turn (since libuv 1.46), so the last of five
 * hundred simultaneous connections waits for five hundred turns, which therefore have to be short.
 */
export class PendingConnections {
  #accepted = 0;

  /** Must be called for each connection. */
  recordConnection(): void {
    this.#accepted += 1;
  }

  /**
   * Resolves after a turn without a new connection, or after a hundred turns: a flood of connections slows work down,
   * but never stops it.
   */
  async acceptPending(): Promise<void> {
    for (let turns = 1; turns <= MAX_TURNS; turns += 1) {
      const before = this.#accepted;
      await yieldToEventLoop();
      if (this.#accepted === before) return;
    }
  }
}

const MAX_TURNS = 100;

/** Gives callers a turn of the event loop one after the other, so that many large pieces of work do not block it. */
export class TurnQueue {
  readonly #newConnections: PendingConnections | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param newConnections connections that go first */
  constructor(newConnections?: PendingConnections) {
    this.#newConnections = newConnections;
  }

  /** Resolves in a turn that no other caller gets. */
  nextTurn(): Promise<void> {
    this.#last = this.#last.then(async () => this.#newConnections?.acceptPending() ?? yieldToEventLoop());
    return this.#last;
  }
}
