/** Returns the page number in an address, from 1. @param given the text of its parameter */
export function pageOf(given: string | null): number {
  return Math.max(1, Math.trunc(Number(given ?? '1')) || 1);
}

/** The part of a list that is on a page. */
export interface PageRange {
  /** From 1. */
  readonly first: number;
  readonly last: number;
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
}

/** Computes the range of a page. @param page from 1 */
export function rangeOf(page: number, pageSize: number, total: number): PageRange {
  const last = Math.min(page * pageSize, total);
  return { first: (page - 1) * pageSize + 1, last, hasBefore: page > 1, hasAfter: last < total };
}
