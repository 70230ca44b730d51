import type { Clock } from '../../shared/clock.js';

/** How much of each entity to ask for: ids, key-values, the newest instances with or without system times, or all. */
export type Projection = 'pick' | 'key-values' | 'recent-times' | 'recent' | 'times' | 'none';

/** Filters that can be proven by a value that cannot match. */
export type ProbedParameter =
  'type' | 'attrs' | 'q' | 'idPattern' | 'scopeQ' | 'georel' | 'datasetId' | 'timerel' | 'timeproperty';

/** The standard writes collection paths both ways, and most brokers accept both. */
export type CollectionEnd = '' | '/';

/**
 * What was learnt about one collection of a broker. Each fact expires after an hour, since brokers are upgraded and
 * replaced behind their address.
 */
export interface BrokerCapabilities {
  /** Projections that the broker refused. */
  refusedProjections: ReadonlySet<Projection>;
  /** False once the broker refused to be asked for a count. */
  countAccepted: boolean;
  /** Largest accepted page; undefined while none was refused. */
  pageSizeMax: number | undefined;
  /** Largest accepted batch; undefined while none was refused. */
  batchSizeMax: number | undefined;
  /** False once batch delete was found missing or without effect. */
  batchDelete: boolean;
  /** How the path of the collection ends; undefined until a query was answered. */
  collectionEnd: CollectionEnd | undefined;
  /** True once deleteAll=true was found to work only for attributes with datasets. */
  deleteAllNeedsDatasets: boolean;
  /** True when the broker accepted such a page, or a larger one: a 400 is then about the query. */
  isProvenPage(projection: Projection, limit: number): boolean;
  setProvenPage(projection: Projection, limit: number): void;
  /** Filters shown to be honoured. */
  isHonoured(parameter: string): boolean;
  setHonoured(parameter: string): void;
  /** Filters that the broker applies after counting and paging. */
  countsBefore(parameter: string): boolean;
  setCountsBefore(parameter: string): void;
}

const MEMORY_MS = 60 * 60 * 1000;

interface Memory {
  readonly sinceMs: number;
  refusedProjections: ReadonlySet<Projection>;
  countAccepted: boolean;
  pageSizeMax: number | undefined;
  batchSizeMax: number | undefined;
  batchDelete: boolean;
  collectionEnd: CollectionEnd | undefined;
  deleteAllNeedsDatasets: boolean;
  readonly provenLimit: Map<Projection, number>;
  readonly countsBeforeSinceMs: Map<string, number>;
  readonly honouredSinceMs: Map<string, number>;
}

/** The memory of one broker, kept by the process for as long as it serves that broker. */
export function createCapabilities(clock: Pick<Clock, 'now'>): BrokerCapabilities {
  const fresh = (): Memory => ({
    sinceMs: clock.now(),
    refusedProjections: new Set(),
    countAccepted: true,
    pageSizeMax: undefined,
    batchSizeMax: undefined,
    batchDelete: true,
    collectionEnd: undefined,
    deleteAllNeedsDatasets: false,
    provenLimit: new Map(),
    countsBeforeSinceMs: new Map(),
    honouredSinceMs: new Map(),
  });
  let memory = fresh();
  const current = (): Memory => {
    const { honouredSinceMs, countsBeforeSinceMs } = memory;
    if (clock.now() - memory.sinceMs >= MEMORY_MS)
      memory = { ...fresh(), honouredSinceMs, countsBeforeSinceMs };
    return memory;
  };
  const isFresh = (since: number | undefined) => since !== undefined && clock.now() - since < MEMORY_MS;
  return {
    get refusedProjections() {
      return current().refusedProjections;
    },
    set refusedProjections(value) {
      current().refusedProjections = value;
    },
    get countAccepted() {
      return current().countAccepted;
    },
    set countAccepted(value) {
      current().countAccepted = value;
    },
    get pageSizeMax() {
      return current().pageSizeMax;
    },
    set pageSizeMax(value) {
      current().pageSizeMax = value;
    },
    get batchSizeMax() {
      return current().batchSizeMax;
    },
    set batchSizeMax(value) {
      current().batchSizeMax = value;
    },
    get batchDelete() {
      return current().batchDelete;
    },
    set batchDelete(value) {
      current().batchDelete = value;
    },
    get collectionEnd() {
      return current().collectionEnd;
    },
    set collectionEnd(value) {
      current().collectionEnd = value;
    },
    get deleteAllNeedsDatasets() {
      return current().deleteAllNeedsDatasets;
    },
    set deleteAllNeedsDatasets(value) {
      current().deleteAllNeedsDatasets = value;
    },
    isProvenPage: (projection, limit) => (current().provenLimit.get(projection) ?? 0) >= limit,
    setProvenPage: (projection, limit) => {
      const proven = current().provenLimit;
      proven.set(projection, Math.max(limit, proven.get(projection) ?? 0));
    },
    isHonoured: (parameter) => isFresh(memory.honouredSinceMs.get(parameter)),
    setHonoured: (parameter) => {
      memory.honouredSinceMs.set(parameter, clock.now());
    },
    countsBefore: (parameter) => isFresh(memory.countsBeforeSinceMs.get(parameter)),
    setCountsBefore: (parameter) => {
      memory.countsBeforeSinceMs.set(parameter, clock.now());
    },
  };
}
