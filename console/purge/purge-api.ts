import { isFinal, PURGE_PATHS } from '../../sidecar/client/purges.js';
import { watchJob } from '../api/events.js';
import { api, headersOf, type Purge, type PurgePreview } from '../api/client.js';
import { queryOf, type PurgeForm, previewQuery } from './form.js';

/** Starts the purge as a job, which continues without this page. @returns its record */
export async function startPurge(form: PurgeForm): Promise<Purge> {
  const headers = { ...headersOf(form), prefer: 'respond-async' };
  return (await api.json('delete', PURGE_PATHS[form.target], { query: queryOf(form), headers })) as Purge;
}

/** Counts what the purge matches, and deletes nothing. */
export async function previewPurge(form: PurgeForm, signal: AbortSignal): Promise<PurgePreview> {
  const asked = { query: previewQuery(form), headers: headersOf(form), signal };
  return (await api.json('delete', PURGE_PATHS[form.target], asked)) as PurgePreview;
}

/** Requests the events of a purge. */
export async function purgeEvents(purge: string, signal?: AbortSignal): Promise<Response> {
  return api.request('get', '/purges/{purge}/events', { path: { purge }, signal });
}

/** How often in a row the connection may break before a purge is no longer waited for. */
const MAX_BREAKS = 5;

/** Waits for a purge to end, and returns its record. @throws Error if the gateway stays out of reach */
export async function waitForEnd(record: Purge): Promise<Purge> {
  let last = record;
  let breaks = 0;
  const aborter = new AbortController();
  if (!isFinal(last))
    await watchJob<Purge>({
      ask: (signal) => purgeEvents(record.id, signal),
      signal: aborter.signal,
      onRecord: (next) => {
        last = next;
        breaks = 0;
      },
      onBroken: () => {
        breaks += 1;
        if (breaks === MAX_BREAKS) aborter.abort();
      },
    });
  if (!isFinal(last)) throw new Error('The gateway cannot be reached.');
  return last;
}

/**
 * Counts what the purge matches and stores it as a plan, so that exactly that can be deleted.
 *
 * @returns undefined if no plan is available; the purge is then limited by its count
 */
export async function planPurge(form: PurgeForm): Promise<Purge | undefined> {
  const body = { target: form.target, query: queryOf(form), dryRun: true, plan: true as const };
  try {
    const begun = await api.json('post', '/purges', { body, headers: headersOf(form) });
    const record = await waitForEnd(begun);
    return record.plan === undefined ? undefined : record;
  } catch {
    return undefined;
  }
}
