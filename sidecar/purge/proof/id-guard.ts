import type { Pattern } from '../../ngsi-ld/pattern.js';
import { nextTurn } from '../../shared/next-turn.js';
import { UnexpectedEntityError } from '../errors.js';

/** Checks listed ids against the query's id and idPattern. */
export interface IdGuard {
  /**
   * Yields to the event loop now and then.
   *
   * @throws UnexpectedEntityError for an id that the query excludes, or that is too long to be checked
   */
  check(ids: readonly string[]): Promise<void>;
}

/** Steps of the pattern matcher before it yields to the event loop: tens of milliseconds at most. */
const MAX_STEPS = 1_000_000;

/** Longest id, in UTF-16 units, that is matched against a pattern; real ids are far shorter. */
const MAX_ID_LENGTH = 4096;

/**
 * A guard for a query. The pattern may match anywhere in the id, as in brokers. A pattern that RE2 cannot compile
 * (look-around, back-references) is left to the broker, whose filtering is proven separately.
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
