import type { ServerResponse } from 'node:http';
import type { CancelSignal } from '../../shared/cancel-signal.js';
import { refused } from './refusals.js';

/** Aborts when the client goes away before it has its answer. */
export class GoneSignal implements CancelSignal {
  readonly #response: ServerResponse;
  #listeners: readonly (() => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get aborted(): boolean {
    return this.#response.closed && !this.#response.writableFinished;
  }

  get reason(): Error {
    return refused('invalidRequest', 'The client went away before the answer.');
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listeners.length === 0) this.#response.once('close', this.#onClose);
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
    if (this.#listeners.length === 0) this.#response.removeListener('close', this.#onClose);
  }

  readonly #onClose = (): void => {
    if (this.aborted) for (const listener of this.#listeners) listener();
  };
}
