/** A request that needs a place. */
export interface PlaceSeeker {
  /** Called when the request gets a place, which it keeps until it calls `leave`. */
  admit(): void;
  /** Called if no place became free in time. */
  turnAway(): void;
}

/** A request that has a place and depends on its client for progress. */
export interface Holder {
  /**
   * Since when the request has been waiting for its client, by `performance.now()`; Infinity if it is not waiting for
   * the client.
   */
  readonly idleSinceMs: number;
  /** Called if other requests need the place: ends the request, which calls `leave`. */
  cutOff(): void;
}

export interface PlacesOptions {
  readonly max: number;
  /** How long a request waits for a place, in ms. */
  readonly waitMs: number;
  /** How long a client may be idle on a place that other requests wait for, in ms. */
  readonly idleMs: number;
}

/**
 * Limits how many requests of one kind the broker gets at the same time, and how long the others wait. A client that
 * stops sending its body or reading its answer loses its place to waiting requests.
 */
export class Places {
  readonly #options: PlacesOptions;
  #taken = 0;
  /** Waiting requests with the time at which they began to wait, the oldest first. */
  readonly #waiting = new Map<PlaceSeeker, number>();
  readonly #holders = new Set<Holder>();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Admits a request immediately if a place is free; otherwise it waits. */
  enter(seeker: PlaceSeeker): void {
    if (this.#taken < this.#options.max) {
      this.#taken += 1;
      seeker.admit();
      return;
    }
    this.#waiting.set(seeker, performance.now());
    const { waitMs, idleMs } = this.#options;
    this.#watch ??= setInterval(() => this.#look(), Math.max(1, Math.min(waitMs, idleMs) / 4));
  }

  /** Passes the place on to the next request. */
  leave(): void {
    if (this.#waiting.size === 0) this.#taken -= 1;
    else this.#admitNext();
  }

  #admitNext(): void {
    for (const next of this.#waiting.keys()) {
      this.giveUp(next);
      // Deferred: if many requests fail at once, they would otherwise admit each other recursively.
      queueMicrotask(() => next.admit());
      return;
    }
  }

  /** Removes a request that no longer waits. */
  giveUp(seeker: PlaceSeeker): void {
    this.#waiting.delete(seeker);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** From now on, cuts the holder off if its client is idle while other requests wait. */
  watch(holder: Holder): void {
    this.#holders.add(holder);
  }

  unwatch(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** Runs while requests wait, several times within the shorter of the two times. */
  #look(): void {
    const nowMs = performance.now();
    const { waitMs, idleMs } = this.#options;
    for (const [seeker, sinceMs] of this.#waiting) {
      if (nowMs - sinceMs < waitMs) break;
      this.giveUp(seeker);
      seeker.turnAway();
    }
    let needed = this.#waiting.size;
    for (const holder of this.#holders) {
      if (needed === 0) break;
      if (nowMs - holder.idleSinceMs < idleMs) continue;
      needed -= 1;
      holder.cutOff();
    }
  }
}
