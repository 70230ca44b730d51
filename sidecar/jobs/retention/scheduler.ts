import { PurgeStoppedError } from '../../purge/index.js';
import { type RetentionPolicies, type RetentionPolicy, StoreUnavailableError } from '../../store/index.js';
import type { Clock } from '../../shared/clock.js';
import { QueueFullError } from '../errors.js';
import type { RetentionService } from './retention-service.js';
import { nextDue } from './schedule.js';

export interface RetentionSchedulerOptions {
  readonly store: Pick<RetentionPolicies, 'enabled' | 'claim'>;
  readonly service: Pick<RetentionService, 'runScheduled'>;
  /** The time of day. */
  readonly clock: Clock;
  /** Names each enabled policy at each look, before any run begins. */
  readonly onEnabled: (policy: string) => void;
  /** A run could not begin, or the policies could not be read: `policy` is undefined then. */
  readonly onError: (error: unknown, policy: string | undefined) => void;
  /**
   * Policies are looked at this often at least, in milliseconds: they may be changed by another process, and a clock may be
   * set. @default 30000
   */
  readonly lookEveryMs?: number;
}

const LOOK_EVERY_MS = 30_000;

/** Clocks of several gateways do not differ by as much. */
const DAY_MS = 86_400_000;

/** Begins the runs of retention policies when they are due. Runs that were missed while no gateway ran are made up by one run. */
export class RetentionScheduler {
  readonly #options: RetentionSchedulerOptions;
  readonly #stopped = new AbortController();
  /** When policies are due next, by their names, versions and last runs: it is slow to compute. */
  #due = new Map<string, number | undefined>();
  /** Runs that were claimed and could not begin: they are given back as soon as the store takes that. */
  readonly #notBegun = new Map<string, { readonly from: number; readonly until: number }>();
  #done: Promise<void> = Promise.resolve();

  constructor(options: RetentionSchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#lookUntilStopped();
  }

  /** Resolves when no run is being begun any more. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
    await this.#giveBack().catch(() => {});
  }

  async #lookUntilStopped(): Promise<void> {
    const { clock, onError, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const nextMs = await this.#beginDue().catch((error: unknown) => {
        onError(error, undefined);
        return undefined;
      });
      const waitMs = Math.min((nextMs ?? Infinity) - clock.now(), lookEveryMs);
      await clock.sleep(Math.max(1, waitMs), signal).catch(() => {});
    }
  }

  /** @returns when the next run is due, in milliseconds */
  async #beginDue(): Promise<number | undefined> {
    const { store, clock, onEnabled, onError } = this.#options;
    await this.#giveBack();
    const known = this.#due;
    this.#due = new Map();
    let earliest: number | undefined;
    const policies = await store.enabled();
    for (const { name } of policies) onEnabled(name);
    for (const policy of policies) {
      if (this.#stopped.signal.aborted) return undefined;
      try {
        const key = JSON.stringify([policy.name, policy.etag, policy.doneUntil]);
        const due = known.has(key) ? known.get(key) : nextDue(policy.settings, this.#doneUntil(policy));
        this.#due.set(key, due);
        if (due === undefined) continue;
        if (due <= clock.now()) await this.#begin(policy);
        else earliest = Math.min(earliest ?? Infinity, due);
      } catch (error) {
        onError(error, policy.name);
      }
    }
    return earliest;
  }

  /** Up to when its runs are done. A clock that was far ahead for a while would keep a policy from running until then. */
  #doneUntil({ doneUntil }: RetentionPolicy): number {
    const nowMs = this.#options.clock.now();
    return doneUntil > nowMs + DAY_MS ? nowMs : doneUntil;
  }

  /** Several missed runs are made up by one. */
  async #begin(policy: RetentionPolicy): Promise<void> {
    const { store, service, clock } = this.#options;
    const { name, doneUntil } = policy;
    const nowMs = clock.now();
    try {
      if (!(await store.claim(name, doneUntil, nowMs))) return;
      await service.runScheduled(policy);
    } catch (error) {
      // Tried again, unless the run before has not ended: then this one is skipped. A claim that failed may have been stored.
      if (isPassing(error)) {
        this.#notBegun.set(name, { from: nowMs, until: doneUntil });
        await this.#giveBack().catch(() => {});
      }
      throw error;
    }
  }

  async #giveBack(): Promise<void> {
    for (const [name, { from, until }] of this.#notBegun) {
      await this.#options.store.claim(name, from, until);
      this.#notBegun.delete(name);
    }
  }
}

/** Whether the run can begin later. */
function isPassing(error: unknown): boolean {
  return [StoreUnavailableError, QueueFullError, PurgeStoppedError].some((kind) => error instanceof kind);
}
