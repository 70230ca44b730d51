/** A request that needs a place. */
export interface PlaceSeeker {
  /** Called when it has a place, which it keeps until `leave` is called. */
  admit(): void;
  /** Called when no place became free in time. */
  turnAway(): void;
}

/** A request that has a place and depends on its client to go on. */
export interface Holder {
  /** Since when its client has let it wait, by `performance.now()`; Infinity while it waits for nothing of its client. */
  readonly idleSinceMs: number;
  /** Called when others need the place: ends the request, which calls `leave`. */
  cutOff(): void;
}

export interface PlacesOptions {
  readonly max: number;
  /** How long a seeker waits for a place, in ms. */
  readonly waitMs: number;
  /** How long a client may let a place wait that others are waiting for, in ms. */
  readonly idleMs: number;
}

/**
 * Bounds how many requests of one kind the broker gets at a time, and how long the others wait. A client that does not go
 * on with its body, or does not take its answer, loses its place to those who wait.
 */
export class Places {
  readonly #options: PlacesOptions;
  #taken = 0;
  /** With the time since which they wait, the first first. */
  readonly #waiting = new Map<PlaceSeeker, number>();
  readonly #holders = new Set<Holder>();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Admits at once where a place is free. */
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

  /** Gives a place to the next. */
  leave(): void {
    if (this.#waiting.size === 0) this.#taken -= 1;
    else this.#admitNext();
  }

  #admitNext(): void {
    for (const next of this.#waiting.keys()) {
      this.giveUp(next);
      // Later: many that fail at once would admit each other ever deeper.
      queueMicrotask(() => next.admit());
      return;
    }
  }

  /** Stops waiting. */
  giveUp(seeker: PlaceSeeker): void {
    this.#waiting.delete(seeker);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** From here on, a holder whose client does not go on is cut off when others wait. */
  watch(holder: Holder): void {
    this.#holders.add(holder);
  }

  unwatch(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** Runs while requests wait, a few times within the shorter of both times. */
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
