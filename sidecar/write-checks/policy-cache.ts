import { type Clock, isDoneWithin, systemClock } from '../shared/clock.js';
import type { SchemaStore, WritePolicies, WritePolicy } from '../store/index.js';

/** The write policies as they were last read. */
export interface CachedPolicies {
  readonly policies: readonly WritePolicy[];
  /** Changes with every write to the store, and every minute, because documents of other origins may change. */
  readonly stamp: string;
}

export interface PolicyCacheOptions {
  readonly store: Pick<SchemaStore, 'revision'>;
  readonly policies: WritePolicies;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called once when the policies cannot be read, and once when they can be read again. Must not throw. */
  readonly onAway?: (error: unknown) => void;
  readonly onBack?: () => void;
}

/** Age, in milliseconds, at which the policies are read again while the next write proceeds. */
const REFRESH_AGE_MS = 1000;
/** Age, in milliseconds, at which the next write waits until the policies are read again. */
const MAX_AGE_MS = 2000;
/** Maximum time that a write waits for the store, in milliseconds. */
const MAX_WAIT_MS = 1000;

export const MAX_POLICIES = 500;

const MINUTE_MS = 60_000;

/**
 * Caches the policies, so that a write needs no query. Policies written by another process take effect within two
 * seconds. While the store is unavailable, those that were last read stay in effect.
 */
export class PolicyCache {
  readonly #options: PolicyCacheOptions;
  static #instances = 0;
  /** Part of the stamp. Workers may serve several services of a process, whose stores may have the same revision. */
  readonly #instance = (PolicyCache.#instances += 1);
  #cached: CachedPolicies | undefined;
  #revision: string | undefined;
  #readMs = -Infinity;
  #reading: Promise<void> | undefined;
  #invalidations = 0;
  /** How many invalidations there had been when the read began whose result is kept. */
  #keptRead = 0;
  #isAway = false;

  constructor(options: PolicyCacheOptions) {
    this.#options = options;
  }

  /** The policies as known now; undefined before they were first read. */
  get cached(): CachedPolicies | undefined {
    return this.#cached;
  }

  /** Whether the known policies are at most two seconds old. */
  get isCurrent(): boolean {
    return this.#options.clock.monotonicMs() - this.#readMs < MAX_AGE_MS;
  }

  /** The known policies, at most two seconds old if the store can be read. Rarely a promise. */
  current(): CachedPolicies | undefined | Promise<CachedPolicies | undefined> {
    const age = this.#options.clock.monotonicMs() - this.#readMs;
    if (age < REFRESH_AGE_MS) return this.#cached;
    const reading = (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
    if (age < MAX_AGE_MS || this.#isAway) return this.#cached;
    return isDoneWithin(systemClock, MAX_WAIT_MS, reading).then(() => this.#cached);
  }

  /** Makes the next write wait until the store was read again, because something was written to the store. */
  readonly invalidate = (): void => {
    this.#readMs = -Infinity;
    // A read that is already running may return the earlier state.
    this.#reading = undefined;
    this.#invalidations += 1;
    this.#isAway = false;
  };

  /** Reads the policies again. Never rejects: if the store cannot be read, the known policies stay in effect. */
  async refresh(): Promise<void> {
    this.invalidate();
    await this.current();
  }

  async #read(): Promise<void> {
    const { store, policies, clock, onAway, onBack } = this.#options;
    const now = clock.monotonicMs();
    const invalidations = this.#invalidations;
    try {
      const revision = await store.revision();
      const stamp = `${this.#instance}:${revision} ${Math.floor(now / MINUTE_MS)}`;
      const isChanged = revision !== this.#revision;
      const items = isChanged ? (await policies.list({ limit: MAX_POLICIES, offset: 0 })).items : [];
      // A read that began after a later write to the store has ended already.
      if (invalidations < this.#keptRead) return;
      this.#keptRead = invalidations;
      if (isChanged) {
        this.#cached = { policies: items, stamp };
        this.#revision = revision;
      } else if (this.#cached !== undefined && this.#cached.stamp !== stamp)
        this.#cached = { ...this.#cached, stamp };
      if (invalidations === this.#invalidations) this.#readMs = now;
      if (this.#isAway) onBack?.();
      this.#isAway = false;
    } catch (error) {
      if (invalidations !== this.#invalidations) return;
      this.#readMs = Math.max(this.#readMs, now);
      if (!this.#isAway) onAway?.(error);
      this.#isAway = true;
    }
  }
}
