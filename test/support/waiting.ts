import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition that no event announces, by looking again and again, with pauses. */
export async function untilTrue(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(20);
}

/** Waits for conditions that events bring about, without a clock. */
export class Waiting {
  readonly #checks = new Set<() => void>();

  /** Has to be called whenever something has changed. */
  notify(): void {
    for (const check of [...this.#checks]) check();
  }

  /** Resolves with the result of `look` as soon as it is defined. */
  async until<Found>(look: () => Found | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const check = () => {
        try {
          const found = look();
          if (found === undefined) return;
          resolve(found);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        this.#checks.delete(check);
      };
      this.#checks.add(check);
      check();
    });
  }
}
