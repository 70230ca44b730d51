import { listContexts } from '../models/contexts-api.js';
import { listModels, searchModels } from '../models/models-api.js';
import { useLoad } from '../shared/use-load.js';

/** Shorter text gives no suggestions, so that a field that was just opened does not list arbitrary models. */
const MIN_CHARACTERS = 2;

/**
 * Returns suggestions for a model, as `Domain/Model`: the models of a domain, or those found by a search.
 *
 * @param typed the text once it no longer changes
 */
export function useModelOffers(typed: string): readonly string[] {
  const [domain = '', name] = typed.trim().split('/');
  const { value } = useLoad(JSON.stringify([domain, name]), async (signal) => {
    if (name === '') return (await listModels(domain, 1, signal)).items;
    const q = name ?? domain;
    return q.length < MIN_CHARACTERS
      ? []
      : (await searchModels({ q, type: '', attribute: '' }, 1, signal)).items;
  });
  return (value ?? []).map((model) => `${model.domain}/${model.name}`);
}

/** Maximum number of suggestions. A list that is filtered by typing may be longer than one that is read. */
const MAX_OFFERS = 200;

/** Returns the URLs of the stored contexts, up to the maximum. @param isNeeded whether to read them */
export function useContextOffers(isNeeded: boolean): readonly string[] {
  const { value } = useLoad(
    isNeeded ? 'contexts' : undefined,
    async (signal) => (await listContexts(1, signal, MAX_OFFERS)).items,
  );
  return (value ?? []).map(({ url }) => url);
}
