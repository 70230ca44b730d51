import type { Clock } from '../../shared/clock.js';

/** How long facts are valid: brokers may be upgraded or replaced behind their address. */
export const FACT_TTL_MS = 60 * 60 * 1000;

const MAX_PROOFS = 200;

/** Something learnt about a broker. */
export interface Fact {
  readonly value: FactValue;
  /** When it was learnt, in milliseconds since the epoch. */
  readonly atMs: number;
}

export type FactValue = true | number | string;

/** Facts by name: the kind of the fact, then its subject if there are several of that kind: `page-max`, `counts-before q`. */
export type Facts = ReadonlyMap<string, Fact>;

/** Whether a fact saves a query to the broker. All other facts make a purge slower or more careful. */
export function isProof(name: string): boolean {
  return name === 'collection-end' || name.startsWith('page ') || isProofOfQuery(name);
}

/** Whether a fact is the proof that all filters of one query are honoured. */
export function isProofOfQuery(name: string): boolean {
  return name.startsWith('honoured ');
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
  /** The proof of one query; see `isHonoured`. */
  readonly [Name in `honoured ${string}`]: true;
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
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** The facts and when they expire, by the monotonic clock. */
  readonly #facts = new Map<string, Fact & { readonly untilMs: number }>();

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns the value of a fact; undefined if it is not known, or no longer valid. */
  get<Name extends keyof FactValues>(name: Name): FactValues[Name] | undefined {
    const fact = this.#facts.get(name);
    const isValid = fact !== undefined && this.#clock.monotonicMs() < fact.untilMs;
    return isValid ? (fact.value as FactValues[Name]) : undefined;
  }

  /**
   * Notes a fact. Learning the same value again does not extend its validity. Of two sizes, the smaller limit and the larger
   * accepted page are kept.
   */
  learn<Name extends keyof FactValues>(name: Name, value: FactValues[Name]): void {
    const known: FactValue | undefined = this.get(name);
    const isWeaker = known !== undefined && (isProof(name) ? value < known : value > known);
    if (value === known || (typeof value === 'number' && isWeaker)) return;
    this.#set(name, value);
  }

  /** Whether all filters of a query were shown to be honoured. @param proof names the very query: see `proofNameOf` */
  isHonoured(proof: string): boolean {
    return this.get(`honoured ${proof}`) === true;
  }

  setHonoured(proof: string): void {
    const name = `honoured ${proof}`;
    this.#facts.delete(name);
    this.#set(name, true);
    const proofs = [...this.#facts.keys()].filter(isProofOfQuery);
    for (const oldest of proofs.slice(0, -MAX_PROOFS)) this.#facts.delete(oldest);
  }

  /** Forgets all proofs: the broker was seen to ignore a filter, so it may not be the one that was asked before. */
  forgetProofs(): void {
    for (const name of [...this.#facts.keys()].filter(isProof)) this.#facts.delete(name);
  }

  facts(): Facts {
    const nowMs = this.#clock.monotonicMs();
    const fresh = [...this.#facts].filter(([, { untilMs }]) => nowMs < untilMs);
    return new Map(fresh.map(([name, { value, atMs }]) => [name, { value, atMs }]));
  }

  #set(name: string, value: FactValue): void {
    this.#facts.set(name, {
      value,
      atMs: this.#clock.now(),
      untilMs: this.#clock.monotonicMs() + FACT_TTL_MS,
    });
  }
}
