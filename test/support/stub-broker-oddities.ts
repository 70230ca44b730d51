/**
 * How a stub broker differs from an exemplary one; each switch is a behaviour observed in some
 * broker.
 */
export interface Oddities {
  /** The maximum number of entities in a page. */
  readonly pageMax: number;
  /**
   * The answer to a larger limit: fewer entities, TooManyResults, a 400 with a reason, or one
   * without.
   */
  readonly overPageMax: 'clamped' | '403' | '400' | '400-mute';
  readonly pick: 'honoured' | 'ignored' | '400' | '400-mute';
  readonly keyValues: 'honoured' | '400' | '400-mute';
  /** Whether entities have their creation time, if it is requested. */
  readonly sysAttrs: boolean;
  /** Whether entities that are listed by `georel=near` have their distance, as a number (observed in Coraine). */
  readonly distances: boolean;
  /** `400`: it is refused as an unknown parameter. */
  readonly countParameter: 'honoured' | '400' | '400-mute';
  /**
   * `whole-result`: limit and offset are ignored. `no-offset`: the offset is ignored. `last-again`:
   * beyond the end, the last entity is repeated. `shallow-<n>`: nothing is listed after n entities.
   */
  readonly paging: 'offset' | 'whole-result' | 'no-offset' | 'last-again' | `shallow-${number}`;
  /** Whether pages are randomly shorter than requested. */
  readonly shortPages: boolean;
  /** `shuffled`: a new order for each query. */
  readonly order: 'stable' | 'shuffled';
  /**
   * The count header for a result of `total` entities, `page` of which are shown; undefined omits
   * the header.
   */
  readonly count: (total: number, page: number) => number | string | undefined;
  /** When an answer has a link to the next page: never, if there is one, or always. */
  readonly next: 'never' | 'right' | 'always';
  /** Filters that are ignored. */
  readonly ignores: readonly string[];
  /** Filters that are applied to a page after counting and cutting it (observed with `attrs`). */
  readonly filtersLate: readonly string[];
  /** For how many queries deleted entities are still listed. */
  readonly staleFor: number;
  /** Headers of each answer to a query. */
  readonly queryHeaders: Readonly<Record<string, string>>;
  /** The status for a query of a tenant that does not exist; 200 has an empty list. */
  readonly unknownTenant: 200 | 400 | 403 | 404;
  /** Headers that can name the tenant. The first one in a request applies; others are ignored. */
  readonly tenantHeaders: readonly string[];
  /** The accepted endings of the collection's path; others are a 404. */
  readonly collectionEnds: readonly ('' | '/')[];
  /** Which attributes `deleteAll=true` finds; it is 404 for the others. */
  readonly deleteAll: 'all' | 'with-datasets' | 'none';
  /** The names that an @context gives to terms, by its URL; undefined if it cannot be fetched. */
  readonly contextAt: (url: string) => ReadonlyMap<string, string> | undefined;
  /**
   * The answer to a query whose @context cannot be fetched: a status, or the query is read with the
   * default @context. Then the answer names no @context (`silent`), the used one (`named`), or the
   * requested one (`echoed`).
   */
  readonly unfetchable: 400 | 500 | 503 | 'silent' | 'named' | 'echoed';
  /** Alternative names of attributes. */
  readonly aliases: ReadonlyMap<string, string>;

  /**
   * A number is the status that refuses batch delete; `idle-…` reports success but does nothing.
   */
  readonly batch: 'works' | 404 | 405 | 501 | 400 | 'idle-200' | 'idle-204' | 'idle-207';
  readonly batchMaxIds: number;
  readonly batchMaxBytes: number;
  /** The status for a batch above the maximum. */
  readonly overBatchMax: 400 | 413;
  /**
   * Above this number of ids, a batch reports all of them as missing and deletes none (observed
   * above 800).
   */
  readonly batchLooksUp: number;
  /** Ids that make the whole batch a 400. */
  readonly badInBatch: (id: string) => boolean;
  /** Ids that make the whole batch fail with 500. */
  readonly poisonsBatch: (id: string) => boolean;
  /** The answer to a batch in which some or all ids are missing. */
  readonly missing: '207' | '204' | '404-errors' | '404-entity-ids';
  /** The status that refuses the delete of an id, singly and in a batch; undefined allows it. */
  readonly locked: (id: string) => number | undefined;
  /** Whether error items have no status. */
  readonly itemsWithoutStatus: boolean;
  /** Whether failed and missing ids are in neither list of a 207. */
  readonly silentItems: boolean;
  /** Ids whose delete reports success but has no effect. */
  readonly ghosts: (id: string) => boolean;
  /** The status for the delete of an existing entity; 204 deletes it. */
  readonly single: 204 | 404;
  /** How many entities the broker's own purge deletes at once. */
  readonly nativePage: number;
}

export const exemplary: Oddities = {
  pageMax: 1000,
  overPageMax: 'clamped',
  pick: 'honoured',
  keyValues: 'honoured',
  sysAttrs: true,
  distances: false,
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
