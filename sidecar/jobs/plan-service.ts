import { QueryRefusedError, TooManyMatchesError } from '../purge/index.js';
import type { Plans, PurgeRecord } from '../store/index.js';
import { PlanGoneError } from './errors.js';
import { PlanKeys } from './plan-keys.js';

/** Items of one plan, and of all plans together. */
const MOST_ITEMS = 1_000_000;
const MOST_IN_ALL = 5_000_000;

/** How long a plan can be applied. */
const PLAN_MS = 3_600_000;

/** Keeps what dry runs have found, and finds it again for the purge that applies it. */
export class PlanService {
  readonly #plans: Plans;

  constructor(plans: Plans) {
    this.#plans = plans;
  }

  /** Keeps a plan. @returns what its record says of it, or why there is none */
  async keep(
    id: string,
    collector: PlanCollector,
  ): Promise<{ plan: NonNullable<PurgeRecord['plan']> } | { why: string }> {
    const { keys, isFull } = collector;
    if (isFull) return { why: `No plan was kept: there are more than ${String(MOST_ITEMS)} matches.` };
    const plan = { id, key: keys.key, items: keys.size, parts: keys.toParts() };
    if (!(await this.#plans.keep(plan, MOST_IN_ALL, PLAN_MS)))
      return {
        why: 'No plan was kept: those of other dry runs take all the room. Try again within an hour.',
      };
    return { plan: { items: keys.size, expiresAt: new Date(Date.now() + PLAN_MS).toISOString() } };
  }

  /**
   * Finds out, before a purge is taken, whether it can apply a plan.
   *
   * @param broker at which it would delete
   * @throws PlanGoneError, TooManyMatchesError
   */
  async check(id: string, maxAffected: number | undefined, broker: string | undefined): Promise<void> {
    const found = await this.#plans.find(id);
    if (found === undefined)
      throw new PlanGoneError(`There is no plan ${id}: preview the purge again, with plan set to true.`);
    if (found.ageMs > PLAN_MS)
      throw new PlanGoneError(`The plan ${id} is older than an hour: preview the purge again.`);
    if (found.appliedBy !== undefined)
      throw new PlanGoneError(
        `The purge ${found.appliedBy} was taken to apply the plan ${id}, which is possible once: preview the purge again.`,
      );
    if (found.broker !== undefined && found.broker !== broker)
      throw new PlanGoneError(
        `The plan ${id} was made at another broker than BROKER_URL names now: preview the purge again.`,
      );
    if (maxAffected !== undefined && found.items > maxAffected)
      throw new TooManyMatchesError(found.items, maxAffected, true);
  }

  /** From now on the plan is kept until a purge has ended that waits to apply it, and no other may. Never throws. */
  async reserve(id: string, purge: string): Promise<void> {
    // Without it, the purge finds out when it begins whether the plan is still there.
    await this.#plans.claim(id, purge).catch(() => {});
  }

  /**
   * The items of a plan, for the purge that applies it; no other purge may, from now on.
   *
   * @throws PlanGoneError
   */
  async take(id: string, purge: string): Promise<PlanKeys> {
    const found = await this.#plans.find(id);
    if (found === undefined || !(await this.#plans.claim(id, purge)))
      throw new PlanGoneError(
        `The plan ${id} is gone, or another purge has applied it. Nothing more is deleted.`,
      );
    const keys = new PlanKeys(found.key);
    for (let number = 0; ; number += 1) {
      const part = await this.#plans.part(id, number);
      if (part === undefined) break;
      keys.addPart(part);
    }
    // A part that is missing makes it less, never more.
    if (keys.size !== found.items)
      throw new PlanGoneError(`The plan ${id} is not whole. Nothing was deleted.`);
    return keys;
  }

  /** It was applied. */
  async forget(id: string): Promise<void> {
    // One that stays is removed when it is too old.
    await this.#plans.forget(id).catch(() => {});
  }
}

/** The items of a dry run, as they are found. */
export class PlanCollector {
  readonly keys = new PlanKeys();
  /** There are more than a plan may have. */
  isFull = false;

  add(item: string): void {
    if (this.keys.size < MOST_ITEMS) this.keys.add(item);
    else this.isFull ||= !this.keys.has(item);
  }
}

/** The query of a dry run, as the purge has it that applies its plan. */
export function withoutDryRun(query: string): string {
  return query
    .split('&')
    .filter((pair) => !pair.startsWith('dryRun='))
    .join('&');
}

/** @throws QueryRefusedError for a purge that deletes and is to make a plan */
export function checkMakesPlan(dryRun: boolean): void {
  if (dryRun) return;
  throw new QueryRefusedError(
    'invalidRequest',
    'A plan is what a dry run finds: set dryRun to true as well.',
    'plan',
  );
}
