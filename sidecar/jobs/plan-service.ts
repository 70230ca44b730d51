import type { Clock } from '../shared/clock.js';
import { QueryRefusedError, TooManyMatchesError } from '../purge/index.js';
import type { Plans, PurgeRecord } from '../store/index.js';
import { PlanUnavailableError } from './errors.js';
import { MAX_ITEMS, PlanKeys } from './plan-keys.js';

const MAX_TOTAL_ITEMS = 5_000_000;

/** How long a plan can be applied, in milliseconds. */
const PLAN_TTL_MS = 3_600_000;

/** Stores the matches of dry runs as plans, and loads them for the purge that applies them. */
export class PlanService {
  readonly #plans: Plans;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(plans: Plans, clock: Pick<Clock, 'now'>) {
    this.#plans = plans;
    this.#clock = clock;
  }

  /** Stores a plan. @returns the members for the record of the dry run, or why there is no plan */
  async save(
    id: string,
    keys: PlanKeys,
  ): Promise<{ plan: NonNullable<PurgeRecord['plan']> } | { why: string }> {
    if (keys.isIncomplete)
      return { why: `No plan was kept: there are more than ${String(MAX_ITEMS)} matches.` };
    const plan = { id, key: keys.key, items: keys.size, parts: keys.toParts() };
    const kept = await this.#plans.keep(plan, MAX_TOTAL_ITEMS, PLAN_TTL_MS);
    if (kept === undefined)
      return {
        why: 'No plan was kept: those of other dry runs use all the space. Try again within an hour.',
      };
    const expiresMs = this.#clock.now() + PLAN_TTL_MS - kept.ageMs;
    return { plan: { items: kept.items, expiresAt: new Date(expiresMs).toISOString() } };
  }

  /**
   * Checks, before a purge is accepted, whether it can apply a plan.
   *
   * @param broker the broker at which the purge would delete
   * @throws PlanUnavailableError, TooManyMatchesError
   */
  async check(id: string, maxAffected: number | undefined, broker: string | undefined): Promise<void> {
    const found = await this.#plans.find(id);
    if (found === undefined)
      throw new PlanUnavailableError(
        `The plan ${id} does not exist: preview the purge again, with plan set to true.`,
      );
    if (found.ageMs > PLAN_TTL_MS)
      throw new PlanUnavailableError(`The plan ${id} is older than an hour: preview the purge again.`);
    if (found.appliedBy !== undefined)
      throw new PlanUnavailableError(
        `The plan ${id} has already been used by the purge ${found.appliedBy}, and can be used only once: preview the purge again.`,
      );
    if (found.broker !== undefined && found.broker !== broker)
      throw new PlanUnavailableError(
        `The plan ${id} was made for a broker other than the one that BROKER_URL names now: preview the purge again.`,
      );
    if (maxAffected !== undefined && found.items > maxAffected)
      throw new TooManyMatchesError(found.items, maxAffected, true);
  }

  /**
   * Reserves a plan for a purge that waits to apply it: the plan is kept until that purge ends, and no other purge may
   * apply it. Never throws.
   */
  async reserve(id: string, purge: string): Promise<void> {
    // If this fails, the purge finds out at its start whether the plan is still available.
    await this.#plans.claim(id, purge).catch(() => {});
  }

  /**
   * Loads the items of a plan for the purge that applies it. From now on, no other purge may apply the plan.
   *
   * @throws PlanUnavailableError
   */
  async load(id: string, purge: string): Promise<PlanKeys> {
    const found = await this.#plans.find(id);
    if (found === undefined || !(await this.#plans.claim(id, purge)))
      throw new PlanUnavailableError(
        `The plan ${id} is gone, or another purge has applied it. Nothing more is deleted.`,
      );
    const keys = new PlanKeys(found.key);
    for (let number = 0; ; number += 1) {
      const part = await this.#plans.part(id, number);
      if (part === undefined) break;
      keys.addPart(part);
    }
    // A missing part makes the plan smaller, never larger.
    if (keys.size !== found.items)
      throw new PlanUnavailableError(`The plan ${id} is incomplete. Nothing was deleted.`);
    return keys;
  }
}

/** Turns the query of a dry run into that of the purge that applies its plan. */
export function withoutDryRun(query: string): string {
  return query
    .split('&')
    .filter((pair) => !pair.startsWith('dryRun='))
    .join('&');
}

/** @throws QueryRefusedError if a purge that deletes is asked to make a plan */
export function checkMakesPlan(dryRun: boolean): void {
  if (dryRun) return;
  throw new QueryRefusedError(
    'invalidRequest',
    'Only a dry run can make a plan: set dryRun to true as well.',
    'plan',
  );
}
