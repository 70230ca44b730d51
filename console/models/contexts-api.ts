import { call, callJson, callPage, callTagged, type Page, type Tagged } from '../api/client.js';
import type { components } from '../api/types.js';
import { apiPath, PAGE_SIZE, pageParams } from './models-api.js';

export type Context = components['schemas']['Context'];
export type WrittenContext = components['schemas']['WrittenContext'];

export async function listContexts(
  page: number,
  signal: AbortSignal,
  size = PAGE_SIZE,
): Promise<Page<Context>> {
  return callPage(apiPath(['contexts'], pageParams(page, size)), signal);
}

/** What is known of a context besides its document; undefined where the list does not have it. */
export async function findContext(name: string, signal: AbortSignal): Promise<Context | undefined> {
  let seen = 0;
  for (let page = 1; ; page += 1) {
    const { items, total } = await callPage<Context>(apiPath(['contexts'], pageParams(page, 1000)), signal);
    const found = items.find((one) => one.name === name);
    seen += items.length;
    if (found !== undefined || seen >= total || items.length === 0) return found;
  }
}

/** @param version the current one, unless given */
export async function readContext(
  name: string,
  signal: AbortSignal,
  version?: string,
): Promise<Tagged<unknown>> {
  return callTagged('GET', apiPath(['contexts', name], version === undefined ? {} : { version }), { signal });
}

/** The text of a body with a context as it was written; it has to be one JSON value. */
function bodyOf(name: string | undefined, contextText: string): string {
  return `{${name === undefined ? '' : `"name":${JSON.stringify(name)},`}"@context":\n${contextText}\n}`;
}

const JSON_BODY = { 'content-type': 'application/json' };

export async function createContext(name: string, contextText: string): Promise<WrittenContext> {
  return callJson('POST', apiPath(['contexts']), { body: bodyOf(name, contextText), headers: JSON_BODY });
}

export async function updateContext(
  name: string,
  contextText: string,
  etag: string,
): Promise<WrittenContext> {
  const headers = { ...JSON_BODY, 'if-match': etag };
  return callJson('PUT', apiPath(['contexts', name]), { body: bodyOf(undefined, contextText), headers });
}

export async function removeContext(name: string, etag: string): Promise<void> {
  await call('DELETE', apiPath(['contexts', name]), { headers: { 'if-match': etag } });
}

/** What is expanded with a context, and what it warns of. */
export async function expandWith(context: unknown, document: unknown, signal: AbortSignal) {
  return callJson<components['schemas']['JsonLdResult']>('POST', apiPath(['workbench', 'jsonld', 'expand']), {
    json: { document, context },
    isRead: true,
    signal,
  });
}
