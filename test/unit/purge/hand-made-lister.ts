import type { ListedPage, PageQuery, PageSource } from '../../../sidecar/purge/listing/index.js';

/** A page of these ids; by default of a broker that gives no count and no links. */
export function pageOf(ids: readonly string[], more: Partial<ListedPage> = {}): ListedPage {
  return {
    ids,
    entities: ids.map((id) => ({ id })),
    hasInvalidCount: false,
    count: undefined,
    hasNext: false,
    isPartial: false,
    warning: undefined,
    madeEntityMap: false,
    length: 0,
    limit: 10,
    instances: undefined,
    mayGrow: false,
    atMs: Infinity,
    tookMs: 0,
    path: '/entities',
    ...more,
  };
}

/** A lister that answers by a function, and keeps its requests. */
export function listerOf(answer: (query: PageQuery, index: number) => ListedPage) {
  const asked: PageQuery[] = [];
  const lister: PageSource = {
    page: async (query) => {
      asked.push(query);
      return answer(query, asked.length - 1);
    },
    showsAnything: async (selection) => (await lister.page({ selection })).ids.length > 0,
  };
  return { lister, asked };
}

/** Ids urn:t:0, urn:t:1, … */
export const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `urn:t:${index}`);
