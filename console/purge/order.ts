import { api, type Purge, type PurgePreview } from '../api/client.js';
import { queryOf, type PurgeForm, type Target } from './form.js';
import { previewQuery } from './preview-request.js';

const PATHS = {
  entities: '/ngsi-ld/v1/entities',
  temporal: '/ngsi-ld/v1/temporal/entities',
} as const satisfies Record<Target, string>;

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
  return (await api.json('delete', PATHS[form.target], { query: queryOf(form), headers })) as Purge;
}

/** Counts what the purge matches, and deletes nothing. */
export async function previewPurge(form: PurgeForm, signal: AbortSignal): Promise<PurgePreview> {
  const asked = { query: previewQuery(form), headers: headersOf(form), signal };
  return (await api.json('delete', PATHS[form.target], asked)) as PurgePreview;
}
