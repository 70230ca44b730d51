import type { BrokerReply } from './client.js';

/** How far the clock of this machine is from that of the broker, as the last answer with a `Date` shows it. */
export class BrokerClock {
  #aheadMs: number | undefined;

  /** How far the clock of this machine is ahead, in milliseconds; undefined where no answer has shown it. */
  get aheadMs(): number | undefined {
    return this.#aheadMs;
  }

  /** @param nowMs when the answer came, by the clock of this machine */
  note({ headers }: Pick<BrokerReply, 'headers'>, nowMs: number): void {
    const madeMs = Date.parse(headers.get('date') ?? '');
    // An answer out of a cache was made some seconds ago.
    const seconds = Number(/^\d{1,9}$/.exec(headers.get('age') ?? '')?.[0] ?? 0);
    if (!Number.isNaN(madeMs)) this.#aheadMs = nowMs - madeMs - seconds * 1000;
  }
}
