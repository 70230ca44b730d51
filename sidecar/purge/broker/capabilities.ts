import type { Clock } from '../../shared/clock.js';

/** How little a page is asked to hold: ids, key-values, the most recent instances with or without system times, all. */
export type Projection = 'pick' | 'key-values' | 'recent-times' | 'recent' | 'times' | 'none';

/** Selecting parameters whose effect can be proven by a value that cannot match. */
export type ProbedParameter =
  'type' | 'attrs' | 'q' | 'idPattern' | 'scopeQ' | 'georel' | 'datasetId' | 'timerel' | 'timeproperty';

/** The standard writes the path of a collection in both ways, and most brokers take both. */
export type CollectionEnd = '' | '/';

/**
 * What was learnt about one broker's entities, or temporal entities: what it refuses and what it honours. Each fact is forgotten after an hour, since
 * brokers are upgraded and replaced behind their address.
 */
export interface BrokerCapabilities {
  /** Projections that the broker refused. */
  refusedProjections: ReadonlySet<Projection>;
  /** False once the broker refused to be asked for a count. */
  countAccepted: boolean;
  /** Largest page the broker is known to accept; undefined while none was refused. */
  pageSizeMax: number | undefined;
  /** Largest batch the broker is known to accept. */
  batchSizeMax: number | undefined;
  /** False once batch delete turned out to be missing or without effect. */
  batchDelete: boolean;
  /** How the path of the collection ends where the broker answers queries; undefined while none was answered. */
  collectionEnd: CollectionEnd | undefined;
  /** True once deleteAll=true turned out to find attributes with datasets only. */
  deleteAllNeedsDatasets: boolean;
  /** True when the broker answered such a page, or a larger one, with 200: a 400 on it is then the query's fault. */
  isProvenPage(projection: Projection, limit: number): boolean;
  setProvenPage(projection: Projection, limit: number): void;
  /** Filters shown to be honoured. */
  isHonoured(parameter: string): boolean;
  setHonoured(parameter: string): void;
  /** Filters that the broker applies to a page after it has counted and paged. */
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
