import type { Pattern } from '../../ngsi-ld/pattern.js';
import { nextTurn } from '../../shared/next-turn.js';
import { UnexpectedEntityError } from '../errors.js';

/** Checks ids that the broker returned against the query's own id and idPattern. */
export interface IdGuard {
  /**
   * Gives way to other work of the process now and then.
   *
   * @throws UnexpectedEntityError for an id that the query excludes, or that is too long to be checked
   */
  check(ids: readonly string[]): Promise<void>;
}

/** Steps of the pattern's automaton before others get their turn: some ten milliseconds at the worst. */
const MAX_STEPS = 1_000_000;

/** UTF-16 units of an id that a pattern is looked for in; ids that people and brokers make are shorter by far. */
const MAX_ID_LENGTH = 4096;

/**
 * A guard for a query. The pattern is searched for anywhere in the id, which is what brokers do; one that RE2 cannot
 * compile (look-around, back-references) is left to the broker, whose filtering is proven apart.
 */
export function createIdGuard(ids: readonly string[] | undefined, pattern: Pattern | undefined): IdGuard {
  const allowed = ids === undefined ? undefined : new Set(ids);

  async function checkPattern(found: readonly string[], { size, test }: Pattern): Promise<void> {
    let steps = 0;
    for (const id of found) {
      if (id.length > MAX_ID_LENGTH || !test(id)) throw new UnexpectedEntityError(id, 'idPattern');
      steps += size * id.length;
      if (steps < MAX_STEPS) continue;
      steps = 0;
      await nextTurn();
    }
  }

  return {
    async check(found) {
      for (const id of allowed === undefined ? [] : found) {
        if (allowed?.has(id) === false) throw new UnexpectedEntityError(id, 'id');
      }
      if (pattern !== undefined) await checkPattern(found, pattern);
    },
  };
}
