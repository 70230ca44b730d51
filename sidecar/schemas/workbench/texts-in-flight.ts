import { WorkersBusyError } from '../../shared/workers/errors.js';

/**
 * Keeps the texts of all work that runs or waits within a bound: workers take few tasks at a time, and each task keeps its
 * text in memory until then.
 */
export class TextsInFlight {
  readonly #charactersMax: number;
  #characters = 0;
  #texts = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /**
   * Does the work on a text. A text that is alone is taken whatever its length.
   *
   * @throws WorkersBusyError when others are in the way; and whatever the work throws
   */
  async with<Result>({ length }: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#texts > 0 && this.#characters + length > this.#charactersMax)
      throw new WorkersBusyError(this.#texts);
    this.#texts += 1;
    this.#characters += length;
    try {
      return await work();
    } finally {
      this.#texts -= 1;
      this.#characters -= length;
    }
  }
}
