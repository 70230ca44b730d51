import type { Clock } from '../../shared/clock.js';
import {
  boundProofs,
  DISTRUSTED,
  isFresh,
  isProof,
  mergeFacts,
  OWN_PROOF,
  type FactValue,
  type Facts,
} from './facts.js';

/** Names the proof of one query. */
export interface ProofName {
  /** A digest: nothing of the query can be read from it. */
  readonly name: string;
  /** False for a query with credentials: not even their digest leaves the process. */
  readonly isShared: boolean;
}

/** How much of each entity to ask for: ids, key-values, the newest instances with or without system times, or all. */
export type Projection = 'pick' | 'key-values' | 'recent-times' | 'recent' | 'times' | 'none';

/** Filters that can be proven by a value that cannot match. */
export type ProbedParameter =
  | 'type'
  | 'attrs'
  | 'q'
  | 'idPattern'
  | 'scopeQ'
  | 'georel'
  | 'datasetId'
  | 'timerel'
  | 'timeproperty';

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
  /**
   * Whether all filters of a query were shown to be honoured.
   *
   * @param proof names the very query: see `proofNameOf`
   */
  isHonoured(proof: string): boolean;
  setHonoured(proof: ProofName): void;
  /** Filters that the broker applies after counting and paging. */
  countsBefore(parameter: string): boolean;
  setCountsBefore(parameter: string): void;
  /** Forgets what was proven: the broker was seen to ignore a filter, so it may not be the one that was asked. */
  distrust(): void;
}

/** The memory of one collection of a broker, kept by the process for as long as it serves that broker. */
export interface BrokerMemory extends BrokerCapabilities {
  /** What counts now, by the clock of the memory. */
  facts(): Facts;
  /**
   * Adds what another process has learnt, as `mergeFacts` does.
   *
   * @returns the names of those that were new here
   */
  add(facts: Facts, proofsAfterMs: number): readonly string[];
  /** Called after each change, but not by `add`. */
  onLearnt: (() => void) | undefined;
}

/** @param clock by which the ages of facts are measured */
export function createCapabilities(clock: Pick<Clock, 'now'>): BrokerMemory {
  let facts: Facts = new Map();
  const valueOf = (name: string): FactValue | undefined => {
    const fact = facts.get(name);
    return fact !== undefined && isFresh(fact, clock.now()) ? fact.value : undefined;
  };
  const sizeOf = (name: string) => valueOf(name) as number | undefined;
  const learn = (name: string, value: FactValue) => {
    facts = new Map(facts).set(name, { value, atMs: clock.now() });
    memory.onLearnt?.();
  };
  /** A value that is known already does not become younger. */
  const set = (name: string, value: FactValue | undefined) => {
    if (value === valueOf(name)) return;
    if (value !== undefined) learn(name, value);
    else facts = without(facts, (each) => each === name);
  };
  const memory: BrokerMemory = {
    onLearnt: undefined,
    get refusedProjections() {
      const nowMs = clock.now();
      const names = [...facts].filter(([, fact]) => isFresh(fact, nowMs)).map(([name]) => name.split(' '));
      return new Set(names.filter(([kind]) => kind === 'refused').map(([, name]) => name as Projection));
    },
    set refusedProjections(value) {
      for (const projection of memory.refusedProjections)
        if (!value.has(projection)) set(`refused ${projection}`, undefined);
      for (const projection of value) set(`refused ${projection}`, true);
    },
    get countAccepted() {
      return valueOf('no-count') === undefined;
    },
    set countAccepted(value) {
      set('no-count', value ? undefined : true);
    },
    get pageSizeMax() {
      return sizeOf('page-max');
    },
    set pageSizeMax(value) {
      set('page-max', value);
    },
    get batchSizeMax() {
      return sizeOf('batch-max');
    },
    set batchSizeMax(value) {
      set('batch-max', value);
    },
    get batchDelete() {
      return valueOf('no-batch') === undefined;
    },
    set batchDelete(value) {
      set('no-batch', value ? undefined : true);
    },
    get collectionEnd() {
      return valueOf('collection-end') as CollectionEnd | undefined;
    },
    set collectionEnd(value) {
      set('collection-end', value);
    },
    get deleteAllNeedsDatasets() {
      return valueOf('needs-datasets') !== undefined;
    },
    set deleteAllNeedsDatasets(value) {
      set('needs-datasets', value ? true : undefined);
    },
    isProvenPage: (projection, limit) => (sizeOf(`page ${projection}`) ?? 0) >= limit,
    setProvenPage: (projection, limit) =>
      set(`page ${projection}`, Math.max(limit, sizeOf(`page ${projection}`) ?? 0)),
    isHonoured: (proof) =>
      valueOf(`honoured ${proof}`) !== undefined || valueOf(`${OWN_PROOF} ${proof}`) !== undefined,
    setHonoured({ name, isShared }) {
      learn(`${isShared ? 'honoured' : OWN_PROOF} ${name}`, true);
      facts = boundProofs(facts);
    },
    countsBefore: (parameter) => valueOf(`counts-before ${parameter}`) !== undefined,
    setCountsBefore: (parameter) => learn(`counts-before ${parameter}`, true),
    distrust() {
      facts = without(facts, isProof);
      learn(DISTRUSTED, true);
    },
    facts() {
      const nowMs = clock.now();
      return new Map([...facts].filter(([, fact]) => isFresh(fact, nowMs)));
    },
    add(others, proofsAfterMs) {
      const before = memory.facts();
      facts = mergeFacts(before, others, { nowMs: clock.now(), proofsAfterMs });
      return [...facts].filter(([name, fact]) => before.get(name) !== fact).map(([name]) => name);
    },
  };
  return memory;
}

function without(facts: Facts, isMeant: (name: string) => boolean): Facts {
  return new Map([...facts].filter(([name]) => !isMeant(name)));
}
