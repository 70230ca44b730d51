import { first, isStorable, run, type SqlSession, statement, type SqlRoutine } from './sql-routines.js';

/** The findings of a dry run, as keyed hashes of its items. */
export interface StoredPlan {
  /** The id of the dry run. */
  readonly id: string;
  /** The key of the hashes, in hex. */
  readonly key: string;
  readonly items: number;
  /** The hashes, in parts that are read one after the other; each part is a text. */
  readonly parts: readonly string[];
}

export interface FoundPlan extends Omit<StoredPlan, 'parts'> {
  /** The age in milliseconds, by the clock of the store. */
  readonly ageMs: number;
  /** The purge that applies the plan. */
  readonly appliedBy: string | undefined;
  /** The broker of the dry run, if known. */
  readonly broker: string | undefined;
}

interface Row {
  readonly id: string;
  readonly hashKey: string;
  readonly items: number;
  readonly ageMs: number;
  readonly appliedBy: string | null;
  readonly broker: string | null;
}

const FIND = statement<{ id: string }, Row>(`
  SELECT id, hash_key AS "hashKey", items, now_ms() - made_at AS "ageMs", applied_by AS "appliedBy",
    (SELECT broker FROM job WHERE job.id = purge_plan.id) AS broker
  FROM purge_plan WHERE id = @id AND made_at IS NOT NULL`);
const PART = statement<{ id: string; number: number }, { readonly hashes: string }>(
  'SELECT hashes FROM purge_plan_part WHERE plan = @id AND number = @number',
);
const ADD = statement<{ id: string; hashKey: string; items: number }>(`
  INSERT INTO purge_plan (id, hash_key, items, begun_at) VALUES (@id, @hashKey, @items, now_ms())
  ON CONFLICT (id) DO UPDATE SET hash_key = excluded.hash_key, items = excluded.items, begun_at = now_ms(), made_at = NULL`);
const ADD_PART = statement<{ id: string; number: number; hashes: string }>(`
  INSERT INTO purge_plan_part (plan, number, hashes) VALUES (@id, @number, @hashes)
  ON CONFLICT (plan, number) DO UPDATE SET hashes = excluded.hashes`);
const MADE = statement<{ id: string }>('UPDATE purge_plan SET made_at = now_ms() WHERE id = @id');
const TOTAL = statement<{ id: string }, { readonly total: number }>(
  'SELECT CAST(coalesce(sum(items), 0) AS bigint) AS total FROM purge_plan WHERE id <> @id',
);
const PRUNE = statement<{ withinMs: number }>(`
  DELETE FROM purge_plan WHERE
    EXISTS (SELECT 1 FROM job WHERE job.id = applied_by AND ended_at IS NOT NULL) OR
    (begun_at < now_ms() - @withinMs AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = applied_by))`);
const CLAIM = statement<{ id: string; purge: string }>(`
  UPDATE purge_plan SET applied_by = @purge WHERE id = @id AND made_at IS NOT NULL AND
    (applied_by IS NULL OR applied_by = @purge)`);
const REMOVE = statement<{ id: string }>('DELETE FROM purge_plan WHERE id = @id');

/** Stores plans of dry runs until they are applied or too old. */
export class SqlPlans {
  constructor(private readonly session: SqlSession) {}

  /**
   * Stores a plan; it can be found once it is complete. A complete plan stays as it is: its dry run may run once more if its
   * process dies after its result was shown, and must not find more than that.
   *
   * First removes the plans whose purge has ended, and those that are too old and that no purge applies.
   *
   * @param withinMs the age in milliseconds beyond which a plan is too old
   * @returns the plan that is stored now; undefined if the maximum would be exceeded
   */
  async keep(
    { id, key, items, parts }: StoredPlan,
    mostItems: number,
    withinMs: number,
  ): Promise<Pick<FoundPlan, 'items' | 'ageMs'> | undefined> {
    const before = await this.find(id);
    if (before !== undefined && before.ageMs <= withinMs) return before;
    const isRoom = await this.session.change(() => begin({ id, key, items }, mostItems, withinMs));
    if (!isRoom) return undefined;
    // One by one: a single transaction for all parts would block other writers.
    for (const [number, hashes] of parts.entries())
      await this.session.change(() => run(ADD_PART, { id, number, hashes }));
    await this.session.change(() => run(MADE, { id }));
    return { items, ageMs: 0 };
  }

  async find(id: string): Promise<FoundPlan | undefined> {
    const row = isStorable(id) ? await this.session.get(() => first(FIND, { id })) : undefined;
    if (row === undefined) return undefined;
    const { hashKey, items, ageMs, appliedBy, broker } = row;
    return {
      id,
      items,
      ageMs,
      key: hashKey,
      appliedBy: appliedBy ?? undefined,
      broker: broker ?? undefined,
    };
  }

  async part(id: string, number: number): Promise<string | undefined> {
    return (await this.session.get(() => first(PART, { id, number })))?.hashes;
  }

  /** Notes that a purge applies a plan. @returns false if another purge already does, or there is no such plan */
  async claim(id: string, purge: string): Promise<boolean> {
    return (await this.session.change(() => run(CLAIM, { id, purge }))) > 0;
  }
}

export type Plans = Pick<SqlPlans, keyof SqlPlans>;

function* begin(
  { id, key, items }: Omit<StoredPlan, 'parts'>,
  mostItems: number,
  withinMs: number,
): SqlRoutine<boolean> {
  yield* run(PRUNE, { withinMs });
  if (((yield* first(TOTAL, { id }))?.total ?? 0) + items > mostItems) return false;
  yield* run(REMOVE, { id });
  yield* run(ADD, { id, hashKey: key, items });
  return true;
}
