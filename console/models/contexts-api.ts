import { allPages, api, ifMatch, type Schemas, type WithETag } from '../api/client.js';

export type Context = Schemas['Context'];
export type WrittenContext = Schemas['WrittenContext'];

const CONTEXT = '/contexts/{context}';

/** Finds the list entry of a context; undefined if the list does not have it. */
export async function findContext(name: string, signal: AbortSignal): Promise<Context | undefined> {
  const isIt = (one: Context) => one.name === name;
  return (await allPages((query) => api.page('/contexts', { query, signal }), isIt)).find(isIt);
}

export async function readContext(context: string, signal?: AbortSignal): Promise<WithETag<unknown>> {
  return api.answer('get', CONTEXT, { path: { context }, signal });
}

/** Returns a request body with a context exactly as written; the context has to be one JSON value. */
function bodyOf(name: string | undefined, contextText: string): string {
  return `{${name === undefined ? '' : `"name":${JSON.stringify(name)},`}"@context":\n${contextText}\n}`;
}

export async function createContext(name: string, contextText: string): Promise<WrittenContext> {
  return (await api.json('post', '/contexts', { body: bodyOf(name, contextText) })) as WrittenContext;
}

export async function updateContext(
  context: string,
  contextText: string,
  etag: string,
): Promise<WrittenContext> {
  const body = bodyOf(undefined, contextText);
  const asked = { path: { context }, body, headers: ifMatch(etag) };
  return (await api.json('put', CONTEXT, asked)) as WrittenContext;
}

export async function removeContext(context: string, etag: string): Promise<void> {
  await api.request('delete', CONTEXT, { path: { context }, headers: ifMatch(etag) });
}
