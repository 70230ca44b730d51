/** Counts failures in a row; open means that the broker answers nothing but failures. */
export interface Breaker {
  /** Any answer that is not a failure. `item` as in failed(). */
  succeeded(item?: string): void;
  /** A failed try. `item` names the single entity (or attribute) it was for; absent for queries and batches. */
  failed(item?: string): void;
  readonly isOpen: boolean;
}

const MAX_FAILURES_IN_A_ROW = 20;

/**
 * A few items that the broker cannot delete are their own error, not the broker's: a row of failures that all belong
 * to so few items says nothing about the rest. Once an item was deleted singly, the broker is known to be able to:
 * then each item counts once, or a purge would end wherever a few hopeless ones meet in the requests under way.
 */
const MIN_DIFFERENT_ITEMS = 5;

export function createBreaker(): Breaker {
  let inARow = 0;
  let general = 0;
  let deletesItems = false;
  const items = new Set<string>();
  return {
    succeeded(item) {
      deletesItems ||= item !== undefined;
      inARow = 0;
      general = 0;
      items.clear();
    },
    failed(item) {
      inARow += 1;
      if (item === undefined) general += 1;
      else items.add(item);
    },
    get isOpen() {
      const fewest = deletesItems ? MAX_FAILURES_IN_A_ROW : MIN_DIFFERENT_ITEMS;
      return inARow >= MAX_FAILURES_IN_A_ROW && general + items.size >= fewest;
    },
  };
}
