import type { Clock } from '../shared/clock.js';
import type { SchemaStore, WritePolicies, WritePolicy } from '../store/index.js';

/** The policies of writes, as they were last read. */
export interface KnownPolicies {
  readonly policies: readonly WritePolicy[];
  /** Changes with every write to the store, and every minute, because documents of other origins may change. */
  readonly stamp: string;
}

export interface PolicyCacheOptions {
  readonly store: Pick<SchemaStore, 'revision'>;
  readonly policies: WritePolicies;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Told once when the policies cannot be read, and once when they can be again. Must not throw. */
  readonly onAway?: (error: unknown) => void;
  readonly onBack?: () => void;
}

/** After so long, in milliseconds, they are read again beside the next write. */
const REFRESH_MS = 1000;
/** After so long, the next write waits until they are read again. */
const OLDEST_MS = 2000;
/** Longest wait of a write for the store. */
const WAIT_MS = 1000;

/** Policies that there may be. */
export const MAX_POLICIES = 500;

const MINUTE_MS = 60_000;

/**
 * The policies, kept so that a write costs no query. Those that another process writes take effect within two seconds; while the
 * store is away, those that were last read hold.
 */
export class PolicyCache {
  readonly #options: PolicyCacheOptions;
  static #instances = 0;
  /** Workers may serve several services of a process, whose stores may have the same revision. */
  readonly #instance = (PolicyCache.#instances += 1);
  #known: KnownPolicies | undefined;
  #revision: string | undefined;
  #readMs = -Infinity;
  #reading: Promise<void> | undefined;
  #isAway = false;

  constructor(options: PolicyCacheOptions) {
    this.#options = options;
  }

  /** What is known now; undefined before the policies were read for the first time. */
  get known(): KnownPolicies | undefined {
    return this.#known;
  }

  /** Whether what is known is at most two seconds old. */
  get isCurrent(): boolean {
    return this.#options.clock.monotonicMs() - this.#readMs < OLDEST_MS;
  }

  /** What is known, as of two seconds ago at most if the store can be read. Only rarely a promise. */
  current(): KnownPolicies | undefined | Promise<KnownPolicies | undefined> {
    const age = this.#options.clock.monotonicMs() - this.#readMs;
    if (age < REFRESH_MS) return this.#known;
    const reading = (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
    if (age < OLDEST_MS || this.#isAway) return this.#known;
    return this.#waitedFor(reading);
  }

  /** Has the next write wait until the store was read again: something was written to it. */
  readonly expire = (): void => {
    this.#readMs = -Infinity;
    // What is read now may be from before.
    this.#reading = undefined;
    this.#isAway = false;
  };

  /** Never rejects: what was known before holds where the store cannot be read. */
  async refresh(): Promise<void> {
    this.expire();
    await this.current();
  }

  async #waitedFor(reading: Promise<void>): Promise<KnownPolicies | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)));
    await Promise.race([reading, late]);
    clearTimeout(timer);
    return this.#known;
  }

  async #read(): Promise<void> {
    const { store, policies, clock, onAway, onBack } = this.#options;
    const now = clock.monotonicMs();
    try {
      const revision = await store.revision();
      const stamp = `${this.#instance}:${revision} ${Math.floor(now / MINUTE_MS)}`;
      if (revision !== this.#revision) {
        const { items } = await policies.list({ limit: MAX_POLICIES, offset: 0 });
        this.#known = { policies: items, stamp };
        this.#revision = revision;
      } else if (this.#known !== undefined && this.#known.stamp !== stamp)
        this.#known = { ...this.#known, stamp };
      this.#readMs = now;
      if (this.#isAway) onBack?.();
      this.#isAway = false;
    } catch (error) {
      this.#readMs = Math.max(this.#readMs, now);
      if (!this.#isAway) onAway?.(error);
      this.#isAway = true;
    }
  }
}
