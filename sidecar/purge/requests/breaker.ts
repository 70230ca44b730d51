/** Counts failures in a row. When open, the broker answers nothing but failures. */
export interface Breaker {
  /** Notes an answer that is not a failure. `item` as in failed(). */
  succeeded(item?: string): void;
  /** Notes a failed try. `item` is the key of the single item it concerned; absent for queries and batches. */
  failed(item?: string): void;
  readonly isOpen: boolean;
}

const MAX_FAILURES_IN_A_ROW = 20;

/**
 * Failures in a row that all concern a few items are about those items, not the broker. Once an item was deleted singly,
 * the broker is known to work, and each item counts only once: otherwise a few bad items in flight together would end the
 * purge.
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
