import { isFinal, PURGE_PATHS } from '../../sidecar/client/purges.js';
import { api, headersOf, type Purge, type PurgePreview } from '../api/client.js';
import { queryOf, type PurgeForm, previewQuery } from './form.js';

/** Starts the purge as a job, which goes on without this page. @returns its record */
export async function startPurge(form: PurgeForm): Promise<Purge> {
  const headers = { ...headersOf(form), prefer: 'respond-async' };
  return (await api.json('delete', PURGE_PATHS[form.target], { query: queryOf(form), headers })) as Purge;
}

/** Counts what the purge matches, and deletes nothing. */
export async function previewPurge(form: PurgeForm, signal: AbortSignal): Promise<PurgePreview> {
  const asked = { query: previewQuery(form), headers: headersOf(form), signal };
  return (await api.json('delete', PURGE_PATHS[form.target], asked)) as PurgePreview;
}

/** How often a job is looked at that a person waits for, in milliseconds. */
const LOOK_MS = 200;

/** The record of a job when it has ended. */
export async function endOf(record: Purge): Promise<Purge> {
  let last = record;
  while (!isFinal(last)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    last = await api.json('get', '/purges/{purge}', { path: { purge: record.id } });
  }
  return last;
}

/**
 * Counts what the purge matches, and keeps it, so that exactly that can be deleted.
 *
 * @returns undefined where no plan can be had; the purge then goes by its count
 */
export async function planPurge(form: PurgeForm): Promise<Purge | undefined> {
  const body = { target: form.target, query: queryOf(form), dryRun: true, plan: true as const };
  try {
    const begun = await api.json('post', '/purges', { body, headers: headersOf(form) });
    const record = await endOf(begun);
    return record.plan === undefined ? undefined : record;
  } catch {
    return undefined;
  }
}

/** Deletes what a plan has, as far as it still matches. @returns the record of the purge */
export async function applyPlan(plan: string): Promise<Purge> {
  return api.json('post', '/purges', { body: { plan } });
}
