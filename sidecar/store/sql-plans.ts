import { first, isStorable, run, type SqlSession, statement, type Work } from './sql-work.js';

/** What a dry run has found, as keyed hashes of its items. */
export interface StoredPlan {
  /** Of the dry run. */
  readonly id: string;
  /** Of the hashes; in hex. */
  readonly key: string;
  readonly items: number;
  /** Hashes, each part a text; read one after the other. */
  readonly parts: readonly string[];
}

/** A plan, and how old it is. */
export interface FoundPlan extends Omit<StoredPlan, 'parts'> {
  /** By the clock of the store, in milliseconds. */
  readonly ageMs: number;
  /** The purge that applies it. */
  readonly appliedBy: string | undefined;
  /** The broker of the dry run, where that is known. */
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
  DELETE FROM purge_plan WHERE begun_at < now_ms() - @withinMs AND
    (applied_by IS NULL OR NOT EXISTS (SELECT 1 FROM job WHERE job.id = applied_by AND ended_at IS NULL))`);
const CLAIM = statement<{ id: string; purge: string }>(`
  UPDATE purge_plan SET applied_by = @purge WHERE id = @id AND made_at IS NOT NULL AND
    (applied_by IS NULL OR applied_by = @purge)`);
const FORGET = statement<{ id: string }>('DELETE FROM purge_plan WHERE id = @id');

/** Plans of dry runs, until they are applied or too old. */
export class SqlPlans {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  /**
   * Keeps a plan; from then on it is found.
   *
   * @param mostItems of all plans together; those that are too old are removed first
   * @param withinMs what is older may be removed, unless its purge has not ended
   * @returns false where it would be more
   */
  async keep({ id, key, items, parts }: StoredPlan, mostItems: number, withinMs: number): Promise<boolean> {
    const isRoom = await this.#session.change(() => begin({ id, key, items }, mostItems, withinMs));
    if (!isRoom) return false;
    // One by one: a transaction of all would hold up other writers.
    for (const [number, hashes] of parts.entries())
      await this.#session.change(() => run(ADD_PART, { id, number, hashes }));
    await this.#session.change(() => run(MADE, { id }));
    return true;
  }

  async find(id: string): Promise<FoundPlan | undefined> {
    const row = isStorable(id) ? await this.#session.get(() => first(FIND, { id })) : undefined;
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
    return (await this.#session.get(() => first(PART, { id, number })))?.hashes;
  }

  /** Notes that a purge applies a plan. @returns false where another one does, or there is none */
  async claim(id: string, purge: string): Promise<boolean> {
    return (await this.#session.change(() => run(CLAIM, { id, purge }))) > 0;
  }

  /** Removes a plan that was applied. */
  async forget(id: string): Promise<void> {
    await this.#session.change(() => run(FORGET, { id }));
  }
}

export type Plans = Pick<SqlPlans, keyof SqlPlans>;

function* begin(
  { id, key, items }: Omit<StoredPlan, 'parts'>,
  mostItems: number,
  withinMs: number,
): Work<boolean> {
  yield* run(PRUNE, { withinMs });
  if (((yield* first(TOTAL, { id }))?.total ?? 0) + items > mostItems) return false;
  yield* run(FORGET, { id });
  yield* run(ADD, { id, hashKey: key, items });
  return true;
}
