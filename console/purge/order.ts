import { callJson, type Purge } from '../api/client.js';
import { queryOf, type PurgeForm } from './form.js';
import { pathOf } from './request-text.js';

/** The header fields that say which data a purge is for. */
export function headersOf({ tenant, link }: PurgeForm): Readonly<Record<string, string>> {
  return {
    ...(tenant.trim() === '' ? {} : { 'ngsild-tenant': tenant.trim() }),
    ...(link.trim() === '' ? {} : { link: link.trim() }),
  };
}

/** Starts the purge as a job, which goes on without this page. @returns its record */
export async function startPurge(form: PurgeForm): Promise<Purge> {
  const headers = { ...headersOf(form), prefer: 'respond-async' };
  return callJson<Purge>('DELETE', `${pathOf(form.target)}?${queryOf(form)}`, { headers });
}
