import { listContexts } from '../models/contexts-api.js';
import { listModels, searchModels } from '../models/models-api.js';
import { useLoad } from '../shared/use-load.js';

/** Nothing is offered for less than this: a field that was just opened would list whatever comes first. */
const MIN_CHARACTERS = 2;

/**
 * The models that may be meant, as `Domain/Model`: those of a domain, or those that a search finds.
 *
 * @param typed once it has settled
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

/** A list from which one picks by typing may be longer than one that is read. */
const MAX_OFFERS = 200;

/** The URLs of the contexts that are stored here, the first of very many. */
export function useContextOffers(): readonly string[] {
  const { value } = useLoad('contexts', async (signal) => (await listContexts(1, signal, MAX_OFFERS)).items);
  return (value ?? []).map(({ url }) => url);
}
