import { api, pageParams, type Page, type Purge } from '../api/client.js';

/** What the history is filtered by; an empty text filters nothing. */
export interface HistoryFilters {
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  readonly retentionPolicy: string;
  /** Local dates: from the beginning of the first to the end of the last. */
  readonly from: string;
  readonly to: string;
  /** A part of the query. */
  readonly text: string;
  readonly type: string;
  /** Dry runs are left out unless they are asked for: each pause in a form leaves one behind. */
  readonly dry: '' | 'shown';
}

/** One page of the history. @param page from 1 on */
export async function listPurges(
  { dry, from, to, ...filters }: HistoryFilters,
  page: number,
  size: number,
  signal: AbortSignal,
): Promise<Page<Purge>> {
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  const shown = dry === '' ? { dryRun: false } : {};
  const since = startOfDay(from);
  const until = startOfDay(to, 1);
  const times = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
  const query = { ...Object.fromEntries(given), ...times, ...shown, ...pageParams(page, size) };
  return api.page('/purges', { query, signal });
}

/** When a day begins where this browser is, in UTC. @param later by how many days */
function startOfDay(date: string, later = 0): string | undefined {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const start = new Date(year, month - 1, day + later);
  return date === '' || Number.isNaN(start.getTime()) ? undefined : start.toISOString();
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
