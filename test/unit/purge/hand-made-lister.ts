import type { Survey } from '../../../sidecar/purge/deleting/index.js';
import type { ListedPage, PageQuery, PageSource } from '../../../sidecar/purge/listing/index.js';
import type { Parameter } from '../../../sidecar/purge/query/index.js';

/** The parameters of a query, in this order. */
export const selectionOf = (given: Readonly<Record<string, string>>): readonly Parameter[] =>
  Object.entries(given).map(([name, value]) => ({ name, value }));

/** Whether a query was made impossible. */
export const isProbe = ({ selection }: PageQuery) =>
  selection.some(({ value }) => value.includes('PurgeProbe'));

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
    isDamaged: false,
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

/** A complete survey that found nothing, except for these findings. */
export function surveyOf(findings: Partial<Survey> = {}): Survey {
  return {
    complete: true,
    trickles: false,
    unlisted: 0,
    lastCount: 0,
    fresh: [],
    unseen: 0,
    unplanned: 0,
    reappeared: [],
    reappearedCount: 0,
    missing: [],
    listed: { atMs: Infinity, tookMs: 0 },
    retryDue: [],
    lingering: 0,
    ...findings,
  };
}
