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
 * What was learnt about one collection of a broker, kept by the process for as long as it serves that broker. Each fact expires
 * after an hour, since brokers are upgraded and replaced behind their address.
 */
export class BrokerMemory {
  /** Called after each change, but not by `add`. */
  onLearnt: (() => void) | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  #facts: Facts = new Map();

  /** @param clock by which the ages of facts are measured */
  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** False once the broker refused to be asked for a count. */
  get countAccepted(): boolean {
    return this.#valueOf('no-count') === undefined;
  }
  set countAccepted(value) {
    this.#set('no-count', value ? undefined : true);
  }

  /** Largest accepted page; undefined while none was refused. */
  get pageSizeMax(): number | undefined {
    return this.#sizeOf('page-max');
  }
  set pageSizeMax(value) {
    this.#set('page-max', value);
  }

  /** Largest accepted batch; undefined while none was refused. */
  get batchSizeMax(): number | undefined {
    return this.#sizeOf('batch-max');
  }
  set batchSizeMax(value) {
    this.#set('batch-max', value);
  }

  /** False once batch delete was found missing or without effect. */
  get batchDelete(): boolean {
    return this.#valueOf('no-batch') === undefined;
  }
  set batchDelete(value) {
    this.#set('no-batch', value ? undefined : true);
  }

  /** How the path of the collection ends; undefined until a query was answered. */
  get collectionEnd(): CollectionEnd | undefined {
    return this.#valueOf('collection-end') as CollectionEnd | undefined;
  }
  set collectionEnd(value) {
    this.#set('collection-end', value);
  }

  /** True once deleteAll=true was found to work only for attributes with datasets. */
  get deleteAllNeedsDatasets(): boolean {
    return this.#valueOf('needs-datasets') !== undefined;
  }
  set deleteAllNeedsDatasets(value) {
    this.#set('needs-datasets', value ? true : undefined);
  }

  /** Whether the broker refused to be asked for this much of each entity. */
  isRefused(projection: Projection): boolean {
    return this.#valueOf(`refused ${projection}`) !== undefined;
  }

  setRefused(projection: Projection): void {
    this.#set(`refused ${projection}`, true);
  }

  /** True when the broker accepted such a page, or a larger one: a 400 is then about the query. */
  isProvenPage(projection: Projection, limit: number): boolean {
    return (this.#sizeOf(`page ${projection}`) ?? 0) >= limit;
  }

  setProvenPage(projection: Projection, limit: number): void {
    this.#set(`page ${projection}`, Math.max(limit, this.#sizeOf(`page ${projection}`) ?? 0));
  }

  /**
   * Whether all filters of a query were shown to be honoured.
   *
   * @param proof names the very query: see `proofNameOf`
   */
  isHonoured(proof: string): boolean {
    return (
      this.#valueOf(`honoured ${proof}`) !== undefined || this.#valueOf(`${OWN_PROOF} ${proof}`) !== undefined
    );
  }

  setHonoured({ name, isShared }: ProofName): void {
    this.#learn(`${isShared ? 'honoured' : OWN_PROOF} ${name}`, true);
    this.#facts = boundProofs(this.#facts);
  }

  /** Filters that the broker applies after counting and paging. */
  countsBefore(parameter: string): boolean {
    return this.#valueOf(`counts-before ${parameter}`) !== undefined;
  }

  setCountsBefore(parameter: string): void {
    this.#learn(`counts-before ${parameter}`, true);
  }

  /** Forgets what was proven: the broker was seen to ignore a filter, so it may not be the one that was asked. */
  distrust(): void {
    this.#facts = without(this.#facts, isProof);
    this.#learn(DISTRUSTED, true);
  }

  /** What counts now, by the clock of the memory. */
  facts(): Facts {
    const nowMs = this.#clock.now();
    return new Map([...this.#facts].filter(([, fact]) => isFresh(fact, nowMs)));
  }

  /**
   * Adds what another process has learnt, as `mergeFacts` does.
   *
   * @returns the names of those that were new here
   */
  add(facts: Facts, proofsAfterMs: number): readonly string[] {
    const before = this.facts();
    this.#facts = mergeFacts(before, facts, { nowMs: this.#clock.now(), proofsAfterMs });
    return [...this.#facts].filter(([name, fact]) => before.get(name) !== fact).map(([name]) => name);
  }

  #valueOf(name: string): FactValue | undefined {
    const fact = this.#facts.get(name);
    return fact !== undefined && isFresh(fact, this.#clock.now()) ? fact.value : undefined;
  }

  #sizeOf(name: string): number | undefined {
    return this.#valueOf(name) as number | undefined;
  }

  #learn(name: string, value: FactValue): void {
    this.#facts = new Map(this.#facts).set(name, { value, atMs: this.#clock.now() });
    this.onLearnt?.();
  }

  /** A value that is known already does not become younger. */
  #set(name: string, value: FactValue | undefined): void {
    if (value === this.#valueOf(name)) return;
    if (value !== undefined) this.#learn(name, value);
    else this.#facts = without(this.#facts, (each) => each === name);
  }
}

function without(facts: Facts, isMeant: (name: string) => boolean): Facts {
  return new Map([...facts].filter(([name]) => !isMeant(name)));
}
