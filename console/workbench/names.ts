import { api, pageParams } from '../api/client.js';
import { listModels } from '../models/models-api.js';
import { useLoad } from '../shared/hooks.js';

/** Shorter text gives no suggestions, so that a field that was just opened does not list arbitrary models. */
const MIN_CHARACTERS = 2;

/** Maximum number of suggestions. */
const MAX_SUGGESTIONS = 200;
const FIRST = pageParams(1, MAX_SUGGESTIONS);

/**
 * Returns suggestions for a model, as `Domain/Model`: the models of a domain, or those found by a search.
 *
 * @param typed the text once it no longer changes
 */
export function useModelNames(typed: string): readonly string[] {
  const [domain = '', name] = typed.trim().split('/');
  const { value } = useLoad(JSON.stringify([domain, name]), async (signal) => {
    if (name === '') return (await listModels(domain, FIRST, signal)).items;
    const q = name ?? domain;
    if (q.length < MIN_CHARACTERS) return [];
    return (await api.page('/models', { query: { q, ...FIRST }, signal })).items;
  });
  return (value ?? []).map((model) => `${model.domain}/${model.name}`);
}

/** Returns the URLs of the stored contexts, up to the maximum. @param isNeeded whether to read them */
export function useContextUrls(isNeeded: boolean): readonly string[] {
  const key = isNeeded ? 'contexts' : undefined;
  const { value } = useLoad(key, (signal) => api.page('/contexts', { query: FIRST, signal }));
  return (value?.items ?? []).map(({ url }) => url);
}
