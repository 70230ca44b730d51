/** What the history is filtered by; an empty text filters nothing. */
export interface HistoryFilters {
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  /** Dry runs are left out unless they are asked for: each pause in a form leaves one behind. */
  readonly dry: '' | 'shown';
}

/** The request for one page of the history. @param page from 1 on */
export function listOf({ state, tenant, caller, dry }: HistoryFilters, page: number, size: number): string {
  const given = Object.entries({ state, tenant, caller }).filter(([, value]) => value !== '');
  const query = new URLSearchParams(given);
  if (dry === '') query.set('dryRun', 'false');
  query.set('limit', String(size));
  query.set('offset', String((page - 1) * size));
  return `api/v2/purges?${query.toString()}`;
}
