/** How a stub broker differs from an exemplary one; each switch is a way in which some broker was seen to behave. */
export interface Oddities {
  /** Most entities in one page. */
  readonly pageMax: number;
  /** What a larger limit gets: less than it asked for, TooManyResults, a 400 that says why, or one that does not. */
  readonly overPageMax: 'clamped' | '403' | '400' | '400-mute';
  readonly pick: 'honoured' | 'ignored' | '400' | '400-mute';
  readonly keyValues: 'honoured' | '400' | '400-mute';
  /** Entities show when they were created, where that is asked for. */
  readonly sysAttrs: boolean;
  /** `refused`: an unknown parameter. */
  readonly countParameter: 'honoured' | '400' | '400-mute';
  /**
   * `whole-result`: limit and offset are ignored; `no-offset`: the offset is; `last-again`: behind the end comes the
   * last entity; `shallow-<n>`: behind n entities comes nothing.
   */
  readonly paging: 'offset' | 'whole-result' | 'no-offset' | 'last-again' | `shallow-${number}`;
  /** Pages may be shorter than asked for, by chance. */
  readonly shortPages: boolean;
  /** `shuffled`: another order for each query. */
  readonly order: 'stable' | 'shuffled';
  /** The count header for a result of `total` entities, of which `page` are shown; undefined to leave it out. */
  readonly count: (total: number, page: number) => number | string | undefined;
  /** The link to the next page: none, where there is one, or on each page. */
  readonly next: 'never' | 'right' | 'always';
  /** Filters without effect. */
  readonly ignores: readonly string[];
  /** Filters that are applied to a page after it was counted and cut (seen with `attrs`). */
  readonly filtersLate: readonly string[];
  /** Ids that a query shows for so many queries after their delete. */
  readonly staleFor: number;
  /** Put on each answer to a query. */
  readonly queryHeaders: Readonly<Record<string, string>>;
  /** Status for the query of a tenant that does not exist; 200 comes with an empty list. */
  readonly unknownTenant: 200 | 400 | 403 | 404;
  /** Headers of which the first that a request has names its tenant; others are ignored. */
  readonly tenantHeaders: readonly string[];
  /** Ends of the collection's path that are known; any other is a 404. */
  readonly collectionEnds: readonly ('' | '/')[];
  /** Which attributes `deleteAll=true` finds; it is 404 for the others. */
  readonly deleteAll: 'all' | 'with-datasets' | 'none';
  /** Which names an @context gives to terms, by its URL; undefined for one that cannot be fetched. */
  readonly contextAt: (url: string) => ReadonlyMap<string, string> | undefined;
  /**
   * What happens to a query with an @context that cannot be fetched: a status, or it is read by the default one, and the answer
   * names no @context (`silent`), the one that was used (`named`), or the one that was asked for (`echoed`).
   */
  readonly unfetchable: 400 | 500 | 503 | 'silent' | 'named' | 'echoed';
  /** Attribute names that mean another one. */
  readonly aliases: ReadonlyMap<string, string>;

  /** A number is the status with which batch delete is refused; `idle-…` answers as if done and does nothing. */
  readonly batch: 'works' | 404 | 405 | 501 | 400 | 'idle-200' | 'idle-204' | 'idle-207';
  readonly batchMaxIds: number;
  readonly batchMaxBytes: number;
  /** Status for a batch over its maximum. */
  readonly overBatchMax: 400 | 413;
  /** Above this many ids a batch answers that none is there, and deletes none (seen above 800). */
  readonly batchLooksUp: number;
  /** Ids whose presence makes the whole batch a 400. */
  readonly badInBatch: (id: string) => boolean;
  /** Ids whose presence makes the whole batch fail with 500. */
  readonly poisonsBatch: (id: string) => boolean;
  /** How a batch with some or only missing ids is answered. */
  readonly missing: '207' | '204' | '404-errors' | '404-entity-ids';
  /** Status with which the delete of an id is refused, singly and as an item of a batch; undefined to let it go. */
  readonly locked: (id: string) => number | undefined;
  /** Error items carry no status. */
  readonly itemsWithoutStatus: boolean;
  /** Failed and missing ids are in neither list of a 207. */
  readonly silentItems: boolean;
  /** Ids whose delete is answered as done but has no effect. */
  readonly ghosts: (id: string) => boolean;
  /** Status for the delete of one entity that is there; 204 deletes it. */
  readonly single: 204 | 404;
  /** Entities that the broker's own purge deletes in one go. */
  readonly nativePage: number;
}

export const exemplary: Oddities = {
  pageMax: 1000,
  overPageMax: 'clamped',
  pick: 'honoured',
  keyValues: 'honoured',
  sysAttrs: true,
  countParameter: 'honoured',
  paging: 'offset',
  shortPages: false,
  order: 'stable',
  count: (total) => total,
  next: 'right',
  ignores: [],
  filtersLate: [],
  staleFor: 0,
  queryHeaders: {},
  unknownTenant: 404,
  tenantHeaders: ['ngsild-tenant', 'fiware-service'],
  collectionEnds: ['', '/'],
  deleteAll: 'all',
  contextAt: (url) => (new URL(url).port === '1' ? undefined : new Map()),
  unfetchable: 503,
  aliases: new Map(),
  batch: 'works',
  batchMaxIds: Infinity,
  batchMaxBytes: Infinity,
  overBatchMax: 400,
  batchLooksUp: Infinity,
  badInBatch: () => false,
  poisonsBatch: () => false,
  missing: '207',
  locked: () => undefined,
  itemsWithoutStatus: false,
  silentItems: false,
  ghosts: () => false,
  single: 204,
  nativePage: 20,
};
