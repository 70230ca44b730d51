import { api, pageParams, type Page, type Schemas } from '../api/client.js';

export type Scan = Schemas['Scan'];
export type ListedScan = Schemas['ListedScan'];
export type FoundEntity = Schemas['FoundEntity'];

/** Reads one page of the scans, newest first. */
export function listScans(page: number, size: number, signal: AbortSignal): Promise<Page<ListedScan>> {
  return api.page('/scans', { query: pageParams(page, size), signal });
}

export function readScan(id: string, signal: AbortSignal): Promise<Scan> {
  return api.json('get', '/scans/{scan}', { path: { scan: id }, signal });
}

export function startScan(body: Schemas['NewScan']): Promise<Scan> {
  return api.json('post', '/scans', { body });
}

export function changeScan(id: string, body: Schemas['ScanChange']): Promise<Scan> {
  return api.json('patch', '/scans/{scan}', { path: { scan: id }, body });
}

export function cancelScan(id: string): Promise<Scan> {
  return api.json('post', '/scans/{scan}/cancel', { path: { scan: id } });
}

/** Reads one page of the entities of a finding. */
export function listFound(
  id: string,
  finding: number,
  { page, size, signal }: { readonly page: number; readonly size: number; readonly signal: AbortSignal },
): Promise<Page<FoundEntity>> {
  const query = { finding, ...pageParams(page, size) };
  return api.page('/scans/{scan}/entities', { path: { scan: id }, query, signal });
}
