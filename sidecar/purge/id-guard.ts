import { RE2JS } from 're2js';
import { UnexpectedEntityError } from './errors.js';

/** Checks ids that the broker returned against the query's own id and idPattern. */
export interface IdGuard {
  /** @throws UnexpectedEntityError for an id that the query excludes */
  check(entityId: string): void;
}

/**
 * A guard for a query. The pattern is searched for anywhere in the id, which is what brokers do; one that RE2 cannot
 * compile (look-around, back-references) is left to the broker, whose filtering is proven apart.
 */
export function createIdGuard(ids: readonly string[] | undefined, idPattern: string | undefined): IdGuard {
  const allowed = ids === undefined ? undefined : new Set(ids);
  const pattern = idPattern === undefined ? undefined : compile(idPattern);
  return {
    check(entityId) {
      if (allowed?.has(entityId) === false) throw new UnexpectedEntityError(entityId, 'id');
      if (pattern?.matcher(entityId).find() === false) throw new UnexpectedEntityError(entityId, 'idPattern');
    },
  };
}

/** True for a pattern that excludes no id, because it matches even the empty text. */
export function matchesAnyId(idPattern: string): boolean {
  return compile(idPattern)?.matcher('').find() === true;
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}
