import { api, type pageParams, type Page, type Purge } from '../api/client.js';
import { nonEmpty } from '../parts/fields.js';

/**
 * The filters of the history; an empty string does not filter. Days are local: from the start of the first to the end of the
 * last. `text` is part of the query. Dry runs are hidden unless `dry` is `shown`, because each pause while filling in the form
 * creates one.
 */
const FILTERS = [
  'state',
  'tenant',
  'caller',
  'retentionPolicy',
  'from',
  'to',
  'text',
  'type',
  'dry',
] as const;
export type HistoryFilters = Readonly<Record<Exclude<(typeof FILTERS)[number], 'state'>, string>> & {
  readonly state: Purge['state'] | '';
};

/** Returns the filters in an address. */
export function filtersIn(params: URLSearchParams): HistoryFilters {
  return Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ''])) as HistoryFilters;
}

/** Reads one page of the history. */
export async function listPurges(
  { dry, from, to, ...filters }: HistoryFilters,
  page: ReturnType<typeof pageParams>,
  signal: AbortSignal,
): Promise<Page<Purge>> {
  const times = { since: startOfDay(from), until: startOfDay(to, 1) };
  const dryRun = dry === '' ? { dryRun: false } : {};
  const query = { ...nonEmpty({ ...filters, ...times }), ...dryRun, ...page };
  return api.page('/purges', { query, signal });
}

/**
 * Returns the time, in UTC, at which a day begins in the browser's time zone; empty for an invalid day.
 *
 * @param later number of days to add
 */
function startOfDay(date: string, later = 0): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const start = new Date(year, month - 1, day + later);
  return date === '' || Number.isNaN(start.getTime()) ? '' : start.toISOString();
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
