import { api, pageParams, type Page, type Purge } from '../api/client.js';

/** The filters of the history; an empty string does not filter. */
export interface HistoryFilters {
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  readonly retentionPolicy: string;
  /** Local dates: from the start of the first day to the end of the last. */
  readonly from: string;
  readonly to: string;
  /** Text that the query contains. */
  readonly text: string;
  readonly type: string;
  /** Dry runs are hidden by default, because each pause while filling in the form creates one. */
  readonly dry: '' | 'shown';
}

/** Reads one page of the history. @param page from 1 */
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

/** Returns the time, in UTC, at which a day begins in the browser's time zone. @param later number of days to add */
function startOfDay(date: string, later = 0): string | undefined {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const start = new Date(year, month - 1, day + later);
  return date === '' || Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

/** Reads the latest purges in some states, newest first, without dry runs. @param most maximum number of purges */
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
