import { PurgeStoppedError } from '../../purge/index.js';
import { type RetentionPolicies, type RetentionPolicy, StoreUnavailableError } from '../../store/index.js';
import type { Clock } from '../../shared/clock.js';
import { QueueFullError } from '../errors.js';
import type { RetentionService } from './retention-service.js';
import { nextDue } from './schedule.js';

export interface RetentionSchedulerOptions {
  readonly store: Pick<RetentionPolicies, 'enabled' | 'claim'>;
  readonly service: Pick<RetentionService, 'runScheduled'>;
  /** Gives the time of day. */
  readonly clock: Clock;
  /** Called for each enabled policy at each look, before any run begins. */
  readonly onEnabled: (policy: string) => void;
  /**
   * Called if a run could not begin, or if the policies could not be read; `policy` is undefined in the second case.
   */
  readonly onError: (error: unknown, policy: string | undefined) => void;
  /**
   * Maximum time between looks at the policies, in milliseconds: another process may change them, and a clock may be
   * set.
   *
   * @default 30000
   */
  readonly pollIntervalMs?: number;
}

const POLL_INTERVAL_MS = 30_000;

/** The clocks of several gateways differ by less than this. */
const DAY_MS = 86_400_000;

/**
 * Begins the runs of retention policies when they are due. Runs that were missed while no gateway was running are
 * replaced by a single run.
 */
export class RetentionScheduler {
  readonly #options: RetentionSchedulerOptions;
  readonly #stopped = new AbortController();
  /** The next due times of policies, by name, version and last run. Cached because they are slow to compute. */
  #due = new Map<string, number | undefined>();
  /** Runs that were claimed but could not begin. They are given back as soon as the store is available. */
  readonly #notBegun = new Map<string, { readonly from: number; readonly until: number }>();
  #done: Promise<void> = Promise.resolve();

  constructor(options: RetentionSchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Stops; resolves when no run is being started. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
    await this.#giveBack().catch(() => {});
  }

  async #run(): Promise<void> {
    const { clock, onError, pollIntervalMs = POLL_INTERVAL_MS } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const nextMs = await this.#beginDue().catch((error: unknown) => {
        onError(error, undefined);
        return undefined;
      });
      const waitMs = Math.min((nextMs ?? Infinity) - clock.now(), pollIntervalMs);
      await clock.sleep(Math.max(1, waitMs), signal).catch(() => {});
    }
  }

  /** Begins the runs that are due. @returns when the next run is due, in milliseconds */
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

  /**
   * The time up to which a policy's runs are done. A time far in the future is ignored: it was set while a clock was
   * ahead, and would keep the policy from running until then.
   */
  #doneUntil({ doneUntil }: RetentionPolicy): number {
    const nowMs = this.#options.clock.now();
    return doneUntil > nowMs + DAY_MS ? nowMs : doneUntil;
  }

  /** Begins one run, which also replaces missed ones. */
  async #begin(policy: RetentionPolicy): Promise<void> {
    const { store, service, clock } = this.#options;
    const { name, doneUntil } = policy;
    const nowMs = clock.now();
    try {
      if (!(await store.claim(name, doneUntil, nowMs))) return;
      await service.runScheduled(policy);
    } catch (error) {
      // A temporary failure is retried. If the previous run has not ended, this run is skipped. A claim that failed may
      // still have been stored.
      if (isTransient(error)) {
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

/** Whether the failure is temporary, so that the run can begin later. */
function isTransient(error: unknown): boolean {
  return [StoreUnavailableError, QueueFullError, PurgeStoppedError].some((kind) => error instanceof kind);
}
