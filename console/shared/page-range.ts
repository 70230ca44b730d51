/** The page that an address names, from 1 on. @param given the text of its parameter */
export function pageOf(given: string | null): number {
  return Math.max(1, Math.trunc(Number(given ?? '1')) || 1);
}

/** What of a list is on a page. */
export interface PageRange {
  /** From 1 on. */
  readonly first: number;
  readonly last: number;
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
}

/** @param page from 1 on */
export function rangeOf(page: number, pageSize: number, total: number): PageRange {
  const last = Math.min(page * pageSize, total);
  return { first: (page - 1) * pageSize + 1, last, hasBefore: page > 1, hasAfter: last < total };
}
