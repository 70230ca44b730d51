import type { Clock } from '../../shared/clock.js';

/**
 * What was learnt about one collection of a broker, as plain facts that processes can exchange. The name of a fact is its kind,
 * followed by its subject if there are several facts of that kind: `page-max`, `counts-before q`.
 */

/** How long facts are valid: brokers may be upgraded or replaced behind their address. */
export const FACT_TTL_MS = 60 * 60 * 1000;

/** Something learnt about a broker. */
export interface Fact {
  readonly value: FactValue;
  /** When it was learnt, in milliseconds since the epoch. */
  readonly atMs: number;
}

export type FactValue = true | number | string;

/** Facts by name. */
export type Facts = ReadonlyMap<string, Fact>;

interface FactKind {
  /** Whether the fact saves a query to the broker. All other facts make a purge slower or more careful. */
  readonly isProof: boolean;
  readonly isValue: (value: unknown) => value is FactValue;
  /** Which of two different values is kept. @default the newer one */
  readonly keeps?: 'least' | 'largest';
  /** Whether there may be several facts of this kind, each with a name of its own. */
  readonly isNamed?: boolean;
  /** Whether the fact stays in the process that has learnt it. */
  readonly isPrivate?: boolean;
}

const isTrue = (value: unknown): value is true => value === true;
const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;
const isCollectionEnd = (value: unknown): value is string => value === '' || value === '/';

/** The broker was seen to ignore a filter, so no earlier proof is valid. */
export const DISTRUSTED = 'distrusted';

/** The proof of a query with credentials. */
const OWN_PROOF = 'honoured-here';

/** Maximum number of proofs of queries to keep. */
const MAX_PROOFS = 200;

const KINDS: ReadonlyMap<string, FactKind> = new Map<string, FactKind>([
  ['page-max', { isProof: false, isValue: isSize, keeps: 'least' }],
  ['batch-max', { isProof: false, isValue: isSize, keeps: 'least' }],
  ['no-count', { isProof: false, isValue: isTrue }],
  ['no-batch', { isProof: false, isValue: isTrue }],
  ['needs-datasets', { isProof: false, isValue: isTrue }],
  ['refused', { isProof: false, isValue: isTrue, isNamed: true }],
  ['counts-before', { isProof: false, isValue: isTrue, isNamed: true }],
  [DISTRUSTED, { isProof: false, isValue: isTrue }],
  ['collection-end', { isProof: true, isValue: isCollectionEnd }],
  ['page', { isProof: true, isValue: isSize, keeps: 'largest', isNamed: true }],
  ['honoured', { isProof: true, isValue: isTrue, isNamed: true }],
  [OWN_PROOF, { isProof: true, isValue: isTrue, isNamed: true, isPrivate: true }],
]);

/** Maximum length of the name of a fact. */
const MAX_NAME = 100;

/** Whether a fact may come from another process: its kind is known and not private, and its value is of that kind. */
export function isFact(name: string, value: unknown): value is FactValue {
  const kind = kindOf(name);
  const isNamed = name.includes(' ');
  if (kind === undefined || kind.isPrivate === true || name.length > MAX_NAME) return false;
  return kind.isValue(value) && isNamed === (kind.isNamed ?? false);
}

/** Whether a fact is a proof. */
export function isProof(name: string): boolean {
  return kindOf(name)?.isProof === true;
}

function withoutProofs(facts: Facts): Facts {
  return new Map([...facts].filter(([name]) => !isProof(name)));
}

/** Whether a fact is the proof that all filters of one query are honoured. */
export function isProofOfQuery(name: string): boolean {
  return name.startsWith('honoured');
}

/** Whether a fact is still valid. A fact from the future never is, because a clock was set. */
export function isFresh({ atMs }: Fact, nowMs: number): boolean {
  return atMs <= nowMs && nowMs - atMs < FACT_TTL_MS;
}

/** Which facts of other processes are valid. */
export interface MergeOptions {
  readonly nowMs: number;
  /** Proofs of other processes that are not newer than this are left out. */
  readonly proofsAfterMs: number;
}

/**
 * Adds what another process has learnt. Of two different values, the kind of the fact decides which one is kept. A proof is
 * kept only if it is newer than the last time that either process saw the broker ignore a filter; a proof of the other process
 * must also be newer than `proofsAfterMs`.
 *
 * @param theirs facts for which `isFact` holds, by the same clock as `mine`
 */
export function mergeFacts(mine: Facts, theirs: Facts, { nowMs, proofsAfterMs }: MergeOptions): Facts {
  const merged = new Map([...mine].filter(([, fact]) => isFresh(fact, nowMs)));
  const counted = [...theirs].filter(([, fact]) => isFresh(fact, nowMs));
  const theirDistrust = new Map(counted).get(DISTRUSTED)?.atMs ?? -Infinity;
  const doubtedUntilMs = Math.max(proofsAfterMs, theirDistrust, merged.get(DISTRUSTED)?.atMs ?? -Infinity);
  for (const [name, { atMs }] of [...merged]) {
    if (isProof(name) && atMs <= theirDistrust) merged.delete(name);
  }
  for (const [name, fact] of counted) {
    if (isProof(name) && fact.atMs <= doubtedUntilMs) continue;
    const known = merged.get(name);
    if (known === undefined || isBetter(kindOf(name)?.keeps, fact, known)) merged.set(name, fact);
  }
  return boundProofs(merged);
}

/** Leaves out the oldest proofs of queries if there are too many; those queries are proven again. */
function boundProofs(facts: Facts): Facts {
  const proofs = [...facts].filter(([name]) => isProofOfQuery(name));
  if (proofs.length <= MAX_PROOFS) return facts;
  const byAge = proofs.sort(([, a], [, b]) => a.atMs - b.atMs);
  const dropped = new Set(byAge.slice(0, proofs.length - MAX_PROOFS).map(([name]) => name));
  return new Map([...facts].filter(([name]) => !dropped.has(name)));
}

function isBetter(keeps: FactKind['keeps'], fact: Fact, known: Fact): boolean {
  if (fact.value === known.value || keeps === undefined) return fact.atMs > known.atMs;
  return keeps === 'least' ? fact.value < known.value : fact.value > known.value;
}

function kindOf(name: string): FactKind | undefined {
  return KINDS.get(name.split(' ', 1)[0] ?? '');
}

/** Names the proof of one query. */
export interface ProofName {
  /** A digest: nothing of the query can be read from it. */
  readonly name: string;
  /** False for a query with credentials: not even their digest leaves the process. */
  readonly isShared: boolean;
}

/**
 * How much of each entity to ask for: ids, key-values, the newest instances with or without system times, or all of it with or
 * without system times.
 */
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

/** The end of the path of a collection. The standard writes both, and most brokers accept both. */
type CollectionEnd = '' | '/';

/** The facts that can be learnt, by name. Each is undefined while it is not known. */
type FactValues = {
  /** Largest page to ask for, after a larger one was refused. */
  readonly 'page-max': number;
  /** Largest batch to send, after a larger one was refused. */
  readonly 'batch-max': number;
  /** The broker refuses to be asked for a count. */
  readonly 'no-count': true;
  /** Batch delete was found missing or without effect. */
  readonly 'no-batch': true;
  /** `deleteAll=true` was found to work only for attributes with datasets. */
  readonly 'needs-datasets': true;
  /** How the path of the collection ends; known once a query was answered. */
  readonly 'collection-end': CollectionEnd;
} & {
  /** The broker refuses to be asked for this much of each entity. */
  readonly [Name in `refused ${Projection}`]: true;
} & {
  /** The filter is applied after counting and paging. */
  readonly [Name in `counts-before ${ProbedParameter}`]: true;
} & {
  /** The broker has accepted such a page of this size, so a 400 to a page that is not larger is about the query. */
  readonly [Name in `page ${Projection}`]: number;
};

/**
 * What was learnt about one collection of a broker, kept by the process for as long as it serves that broker. Each fact expires
 * after an hour, because brokers may be upgraded or replaced behind their address.
 */
export class BrokerCapabilities {
  /** Called after each change, except for those by `add`. */
  onChange: (() => void) | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  #facts: Facts = new Map();
  #latestMs = -Infinity;

  /** @param clock by which the ages of facts are measured */
  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Returns the value of a fact; undefined if it is not known, or no longer valid. */
  get<Name extends keyof FactValues>(name: Name): FactValues[Name] | undefined {
    return this.#fresh(name)?.value as FactValues[Name] | undefined;
  }

  /**
   * Notes a fact. Learning the same value again does not extend its validity. Of two sizes, the kind of the fact decides which
   * one is kept.
   */
  learn<Name extends keyof FactValues>(name: Name, value: FactValues[Name]): void {
    const fact = { value, atMs: this.#now() };
    const known = this.#fresh(name);
    const keeps = kindOf(name)?.keeps;
    const isNews =
      known?.value !== value && (keeps === undefined || known === undefined || isBetter(keeps, fact, known));
    if (isNews) this.#set(name, fact);
  }

  /**
   * Whether all filters of a query were shown to be honoured.
   *
   * @param proof names the very query: see `proofNameOf`
   */
  isHonoured(proof: string): boolean {
    return (this.#fresh(`honoured ${proof}`) ?? this.#fresh(`${OWN_PROOF} ${proof}`)) !== undefined;
  }

  setHonoured({ name, isShared }: ProofName): void {
    this.#set(`${isShared ? 'honoured' : OWN_PROOF} ${name}`, { value: true, atMs: this.#now() });
    this.#facts = boundProofs(this.#facts);
  }

  /** Forgets all proofs: the broker was seen to ignore a filter, so it may not be the one that was asked before. */
  forgetProofs(): void {
    this.#facts = withoutProofs(this.#facts);
    this.#set(DISTRUSTED, { value: true, atMs: this.#now() });
  }

  /** Returns the facts that are valid now. */
  facts(): Facts {
    const nowMs = this.#now();
    return new Map([...this.#facts].filter(([, fact]) => isFresh(fact, nowMs)));
  }

  /**
   * Adds what another process has learnt, as `mergeFacts` does.
   *
   * @returns the names of the facts that are new here
   */
  add(facts: Facts, proofsAfterMs: number): readonly string[] {
    const before = this.facts();
    this.#facts = mergeFacts(before, facts, { nowMs: this.#now(), proofsAfterMs });
    return [...this.#facts].filter(([name, fact]) => before.get(name) !== fact).map(([name]) => name);
  }

  #fresh(name: string): Fact | undefined {
    const nowMs = this.#now();
    const fact = this.#facts.get(name);
    return fact !== undefined && isFresh(fact, nowMs) ? fact : undefined;
  }

  /** The time. Forgets all proofs if it was set back, because their age is unknown then. */
  #now(): number {
    const nowMs = this.#clock.now();
    if (nowMs < this.#latestMs) this.#facts = withoutProofs(this.#facts);
    this.#latestMs = nowMs;
    return nowMs;
  }

  #set(name: string, fact: Fact): void {
    this.#facts = new Map(this.#facts).set(name, fact);
    this.onChange?.();
  }
}
