import type { Deadlines } from './deadlines.js';
import type { Turn } from './fair-queue.js';
import type { WorkerSlot } from './slot.js';
import type { Task } from './task.js';
import type { Outcome } from './tasks.js';

/** What became of a turn: an outcome of each of its tasks, or what ended the worker. */
export type TurnResult =
  { readonly outcomes: readonly Outcome[] } | { readonly cause: unknown; readonly isLate: boolean };

/** A turn that a worker is at. Its deadline counts from the beginning, for the worker has loaded and is free. */
export class TurnRun {
  readonly turn: Turn<Task>;
  readonly #slot: WorkerSlot;
  readonly #deadlines: Deadlines;
  #cancel: () => void;
  #isLate = false;

  constructor(turn: Turn<Task>, slot: WorkerSlot, deadlines: Deadlines) {
    this.turn = turn;
    this.#slot = slot;
    this.#deadlines = deadlines;
    this.#cancel = this.#endAfter(Math.min(...turn.tasks.map(({ deadlineMs }) => deadlineMs)));
  }

  async carryOut(): Promise<TurnResult> {
    try {
      return { outcomes: await this.#slot.run(this.turn.tasks.map(({ job }) => job)) };
    } catch (cause) {
      return { cause, isLate: this.#isLate };
    } finally {
      this.#cancel();
    }
  }

  /** Ends the worker when it is still at this in `ms` milliseconds, whatever the deadline was. */
  hurry(ms: number): void {
    this.#cancel();
    this.#cancel = this.#endAfter(ms);
  }

  #endAfter(ms: number): () => void {
    return this.#deadlines.start(ms, () => {
      this.#isLate = true;
      this.#slot.end();
    });
  }
}
