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
}

/** Plans of dry runs, until they are applied or too old. */
export interface Plans {
  /**
   * Keeps a plan; from then on it is found.
   *
   * @param mostItems of all plans together; those that are too old are removed first
   * @param withinMs what is older may be removed, unless its purge has not ended
   * @returns false where it would be more
   */
  keep(plan: StoredPlan, mostItems: number, withinMs: number): Promise<boolean>;
  find(id: string): Promise<FoundPlan | undefined>;
  part(id: string, number: number): Promise<string | undefined>;
  /** Notes that a purge applies a plan. @returns false where another one does, or there is none */
  claim(id: string, purge: string): Promise<boolean>;
  /** Removes a plan that was applied. */
  forget(id: string): Promise<void>;
}
