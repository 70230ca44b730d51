import {
  addressOf,
  call,
  callJson,
  callPage,
  callTagged,
  type CallOptions,
  type Page,
  type Tagged,
} from '../api/client.js';
import type {
  Domain,
  DomainChange,
  DomainWarning,
  ListedDomain,
  Model,
  ModelDiff,
  ModelKey,
  ModelSummary,
  ModelVersion,
  NewDomain,
  Verdict,
} from './model-types.js';

export * from './model-types.js';

/** How many rows a page of a list has. */
export const PAGE_SIZE = 25;

const API = 'api/v2';

/** A path of the API. @param segments not encoded */
export function apiPath(segments: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const params = new URLSearchParams(query).toString();
  return `${API}/${segments.map(encodeURIComponent).join('/')}${params === '' ? '' : `?${params}`}`;
}

export function modelPath(
  { domain, name }: ModelKey,
  more: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  return apiPath(['domains', domain, 'models', name, ...more], query);
}

/** The parameters of a page of a list. @param page from 1 */
export function pageParams(page: number, size = PAGE_SIZE): Readonly<Record<string, string>> {
  return { limit: String(size), offset: String((page - 1) * size) };
}

export async function listDomains(page: number, signal: AbortSignal): Promise<Page<ListedDomain>> {
  return callPage(apiPath(['domains'], pageParams(page)), signal);
}

/** The names of all domains, page after page. */
export async function domainNames(signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const { items, total } = await callPage<Domain>(apiPath(['domains'], pageParams(page, 1000)), signal);
    names.push(...items.map(({ name }) => name));
    if (names.length >= total || items.length === 0) return names;
  }
}

export async function readDomain(name: string, signal: AbortSignal): Promise<Tagged<Domain>> {
  return callTagged('GET', apiPath(['domains', name]), { signal });
}

export async function createDomain(domain: NewDomain): Promise<Domain> {
  return callJson('POST', apiPath(['domains']), { json: domain });
}

export async function updateDomain(name: string, change: DomainChange, etag: string): Promise<Domain> {
  return callJson('PUT', apiPath(['domains', name]), { json: change, headers: { 'if-match': etag } });
}

/**
 * Deletes a domain as it was read: its ETag changes with its models, too.
 *
 * @param cascade with its models; else a domain that holds some is refused
 */
export async function removeDomain(name: string, cascade: boolean, etag: string): Promise<void> {
  const path = apiPath(['domains', name], cascade ? { cascade: 'true' } : {});
  await call('DELETE', path, { headers: { 'if-match': etag } });
}

export async function listModels(
  domain: string,
  page: number,
  signal: AbortSignal,
): Promise<Page<ModelSummary>> {
  return callPage(apiPath(['domains', domain, 'models'], pageParams(page)), signal);
}

/** What may not be as expected in the context of a domain. */
export async function domainWarnings(domain: string, signal: AbortSignal): Promise<Page<DomainWarning>> {
  return callPage(apiPath(['domains', domain, 'context', 'warnings']), signal);
}

/** Models that meet all of the filters. @param filters those that are empty are left out */
export async function searchModels(
  filters: Readonly<Record<'q' | 'type' | 'attribute', string>>,
  page: number,
  signal: AbortSignal,
): Promise<Page<ModelSummary>> {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  return callPage(apiPath(['models'], { ...given, ...pageParams(page) }), signal);
}

/** @param version the current one, unless given; the ETag of an older one fits no write */
export async function readModel(
  key: ModelKey,
  signal: AbortSignal,
  version?: number,
): Promise<Tagged<Model>> {
  return callTagged('GET', modelPath(key, [], version === undefined ? {} : { version: String(version) }), {
    signal,
  });
}

export async function removeModel(key: ModelKey, etag: string): Promise<void> {
  await call('DELETE', modelPath(key), { headers: { 'if-match': etag } });
}

export async function listVersions(key: ModelKey, page: number, signal: AbortSignal) {
  return callPage<ModelVersion>(modelPath(key, ['versions'], pageParams(page, 1000)), signal);
}

export async function diffVersions(
  key: ModelKey,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<ModelDiff> {
  return callJson('GET', modelPath(key, ['versions', 'diff'], { from: String(from), to: String(to) }), {
    signal,
  });
}

/** A JSON document of a model, or of something else with a path of its own. */
export async function readDocument(path: string, signal: AbortSignal): Promise<unknown> {
  return callJson('GET', path, { signal });
}

/** Validates an entity against the current version of a model. @param text JSON, sent as it is */
export async function validate(key: ModelKey, text: string, signal?: AbortSignal) {
  return callJson<Verdict | readonly Verdict[]>('POST', apiPath(['validate', key.domain, key.name]), {
    ...jsonText(text),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A schema from samples. @param form that of the samples, as the API calls it */
export async function inferSchema(
  text: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  return callJson('POST', apiPath(['workbench', 'schema', 'infer'], query), { ...jsonText(text), signal });
}

/** JSON that somebody wrote, as the body of a request that changes nothing. */
function jsonText(text: string): CallOptions {
  return { body: text, headers: { 'content-type': 'application/json' }, isRead: true };
}

/** Where a file of the API can be downloaded; reads need no token. */
export function downloadOf(path: string): string {
  return addressOf(path);
}
