import { callJson } from '../api/client.js';
import type { components } from '../api/types.js';
import { CORE_CONTEXT, modelOf, type Bench } from './bench.js';

export type Verdict = components['schemas']['Verdict'];
export type Finding = components['schemas']['EntityError'] | components['schemas']['EntityWarning'];
export type JsonLdResult = components['schemas']['JsonLdResult'];

/** Holds what is on the workbench against a model. @throws ApiError, OfflineError */
export async function validate(
  { text, model, form, isStrict }: Bench,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const named = modelOf(model);
  const query = new URLSearchParams({ ...(form === '' ? {} : { form }), strict: String(isStrict) });
  const path = named === undefined ? '' : `/${named.map(encodeURIComponent).join('/')}`;
  const answer = await callJson<Verdict | readonly Verdict[]>('POST', `api/v2/validate${path}?${query}`, {
    headers: { 'content-type': 'application/json' },
    ...{ body: text, isRead: true, signal },
  });
  return Array.isArray(answer) ? (answer as readonly Verdict[]) : [answer as Verdict];
}

/**
 * The context that was chosen, as JSON; undefined for that of the document. Brokers read a document without one by the core
 * context.
 */
export function contextOf({ text, context, url, inline }: Bench): string | undefined {
  switch (context) {
    case 'own':
      return /"@context"\s*:/.test(text) ? undefined : JSON.stringify(CORE_CONTEXT);
    case 'core':
      return JSON.stringify(CORE_CONTEXT);
    case 'url':
      return url.trim() === '' ? undefined : JSON.stringify(url.trim());
    case 'inline':
      return inline.trim() === '' ? undefined : inline;
  }
}

/** Expands or compacts what is on the workbench. The texts are sent as they are. @throws ApiError, OfflineError */
export async function process(
  operation: 'expand' | 'compact',
  bench: Bench,
  signal: AbortSignal,
): Promise<JsonLdResult> {
  const context = contextOf(bench);
  const body = `{"document":${bench.text}${context === undefined ? '' : `,"context":${context}`}}`;
  return callJson('POST', `api/v2/workbench/jsonld/${operation}`, {
    headers: { 'content-type': 'application/json' },
    ...{ body, isRead: true, signal },
  });
}
