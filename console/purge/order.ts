import { PURGE_PATHS } from '../../sidecar/client/purges.js';
import { api, type Purge, type PurgePreview } from '../api/client.js';
import { queryOf, type PurgeForm } from './form.js';
import { previewQuery } from './preview-request.js';

/** The header fields that say which data a purge is for. */
function headersOf({ tenant, link }: PurgeForm): Readonly<Record<string, string>> {
  return {
    ...(tenant.trim() === '' ? {} : { 'ngsild-tenant': tenant.trim() }),
    ...(link.trim() === '' ? {} : { link: link.trim() }),
  };
}

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
