/** A request that needs a slot. */
export interface SlotRequest {
  /** Called when the request gets a slot, which it keeps until it calls `release`. */
  admit(): void;
  /** Called if no slot became free in time. */
  reject(): void;
}

/** A request that has a slot and depends on its client for progress. */
export interface SlotHolder {
  /**
   * Since when the request has been waiting for its client, by `performance.now()`; Infinity if it is not waiting for
   * the client.
   */
  readonly idleSinceMs: number;
  /** Called if other requests need the slot: ends the request, which calls `release`. */
  abort(): void;
}

/** How many slots there are, and when waiting requests and idle clients give up. */
export interface SlotsOptions {
  readonly max: number;
  /** How long a request waits for a slot, in ms. */
  readonly waitMs: number;
  /** How long a client may be idle on a slot that other requests wait for, in ms. */
  readonly idleMs: number;
}

/**
 * Limits how many requests of one kind the broker gets at the same time, and how long the others wait. A client that
 * stops sending its body or reading its answer loses its slot to waiting requests.
 */
export class Slots {
  readonly #options: SlotsOptions;
  #taken = 0;
  /** Waiting requests with the time at which they began to wait, the oldest first. */
  readonly #waiting = new Map<SlotRequest, number>();
  readonly #holders = new Set<SlotHolder>();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Admits a request immediately if a slot is free; otherwise it waits. */
  acquire(request: SlotRequest): void {
    if (this.#taken < this.#options.max) {
      this.#taken += 1;
      request.admit();
      return;
    }
    this.#waiting.set(request, performance.now());
    const { waitMs, idleMs } = this.#options;
    this.#watch ??= setInterval(() => this.#check(), Math.max(1, Math.min(waitMs, idleMs) / 4));
  }

  /** Passes the slot on to the next request. */
  release(): void {
    if (this.#waiting.size === 0) this.#taken -= 1;
    else this.#admitNext();
  }

  #admitNext(): void {
    for (const next of this.#waiting.keys()) {
      this.cancel(next);
      // Deferred: if many requests fail at once, they would otherwise admit each other recursively.
      queueMicrotask(() => next.admit());
      return;
    }
  }

  cancel(request: SlotRequest): void {
    this.#waiting.delete(request);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** From now on, aborts the holder if its client is idle while other requests wait. */
  watch(holder: SlotHolder): void {
    this.#holders.add(holder);
  }

  unwatch(holder: SlotHolder): void {
    this.#holders.delete(holder);
  }

  /** Runs while requests wait, several times within the shorter of the two times. */
  #check(): void {
    const nowMs = performance.now();
    const { waitMs, idleMs } = this.#options;
    for (const [request, sinceMs] of this.#waiting) {
      if (nowMs - sinceMs < waitMs) break;
      this.cancel(request);
      request.reject();
    }
    let needed = this.#waiting.size;
    for (const holder of this.#holders) {
      if (needed === 0) break;
      if (nowMs - holder.idleSinceMs < idleMs) continue;
      needed -= 1;
      holder.abort();
    }
  }
}
