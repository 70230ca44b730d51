import { api, type Page, type Purge } from '../api/client.js';

/** What the history is filtered by; an empty text filters nothing. */
export interface HistoryFilters {
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  readonly retentionPolicy: string;
  /** Dry runs are left out unless they are asked for: each pause in a form leaves one behind. */
  readonly dry: '' | 'shown';
}

/** One page of the history. @param page from 1 on */
export async function listPurges(
  { dry, ...filters }: HistoryFilters,
  page: number,
  size: number,
  signal: AbortSignal,
): Promise<Page<Purge>> {
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  const shown = dry === '' ? { dryRun: false } : {};
  const query = { ...Object.fromEntries(given), ...shown, limit: size, offset: (page - 1) * size };
  return api.page('/purges', { query, signal });
}

/** The latest purges in some states, the newest first, dry runs left out. @param most how many */
export async function latestPurges(
  states: readonly Purge['state'][],
  most: number,
  signal: AbortSignal,
): Promise<readonly Purge[]> {
  const pages = await Promise.all(
    states.map((state) => api.page('/purges', { query: { state, dryRun: false, limit: most }, signal })),
  );
  const purges = pages.flatMap(({ items }) => items).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  return purges.slice(0, most);
}
