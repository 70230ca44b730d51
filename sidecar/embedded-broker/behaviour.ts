/**
 * The faults that the embedded broker can imitate: those of real brokers and of the proxies in front of them. By
 * default it has none. Every field may be changed while the broker runs.
 */
export interface Behaviour {
  /** Delay before every request is handled, in milliseconds. */
  latencyMs: number;
  /** The fraction of requests (0 to 1) that fail, each in one of the ways listed in `faultKinds`. */
  faultRate: number;
  /** How many of the next requests fail, cycling through `faultKinds`; counts down to 0. */
  failFirst: number;
  faultKinds: readonly FaultKind[];
  /** Value of `Retry-After`, for the fault kinds that send it. */
  retryAfter: string;
  /** Which requests `faultRate` and `failFirst` apply to. */
  faultOn: (request: { readonly method: string; readonly path: string }) => boolean;
  /** Seed of the random choices; setting a different seed restarts the sequence. */
  seed: number;

  /** Query pages hold a random part of the requested number of entities, at least one. */
  shortPages: boolean;
  /** How many of the next query pages are empty but have a next link; counts down to 0. */
  emptyPagesWithNext: number;
  /** The largest accepted `limit`, overriding `Limits.maxPageSize`. */
  maxPageSize: number | undefined;
  /** An offset past the end returns the last entity again (clause 5.5.9.1). */
  repeatLastPastEnd: boolean;
  /** Send no next and prev links. */
  noPageLinks: boolean;
  /**
   * Query parameters that are silently ignored. If any is ignored, queries of any width are accepted; if `timerel` is
   * ignored, no time query is needed.
   */
  ignoreParameters: readonly string[];
  /** Tenant headers (in lower case) that are ignored. */
  ignoreTenantHeaders: readonly string[];
  /** Send no count header. */
  noCount: boolean;

  /** Entities whose deletion is refused with 409, or with an error item in a batch; applies to temporal entities too. */
  isLocked: (id: string) => boolean;
  /** Entities whose deletion is confirmed but not carried out. */
  isGhost: (id: string) => boolean;

  /** Status with which every temporal request fails, e.g. 501. */
  temporalStatus: number | undefined;
  /** Status with which temporal writes fail. */
  temporalWriteStatus: number | undefined;
  /** Instances are shown without `instanceId`, so they cannot be deleted individually. */
  noInstanceIds: boolean;
  /** Show only this many instances of each attribute, the newest ones, without saying that there are more. */
  silentInstanceLimit: number | undefined;
  /** Maximum number of instances of an attribute in one answer, overriding `Limits`; a partial answer is 206. */
  instancePageSize: number | undefined;
  /** Maximum number of instances of an entity in one answer: the oldest across all its attributes. A partial answer is 206. */
  instancesTogether: number | undefined;
  /** Values of `timeproperty` that are rejected with 400. */
  refusedTimeProperties: readonly string[];
  /** Values of `timeproperty` that no instance has, as if the broker did not store those times. */
  timePropertiesMissing: readonly string[];
  /**
   * Entities are selected, counted and paged regardless of the interval. Those without an instance in the interval are
   * then left out of the page, so a page before the last one may be short or empty.
   */
  selectsIgnoringTime: boolean;
  /** `after` and `between` exclude `timeAt`. */
  exclusiveBounds: boolean;
  /** `q` and geoqueries select instances rather than entities: only matching instances are shown. */
  qShowsMatchesOnly: boolean;
  /** `lastN` is rejected with 400. */
  noLastN: boolean;
  /** `lastN` is applied before the interval. */
  lastNBeforeTime: boolean;
  /** Parts of a temporal entity whose deletion is refused with 409. `instanceId` is undefined for a whole attribute. */
  isLockedInstance: InstanceTest;
  /** Parts of a temporal entity whose deletion is confirmed but not carried out. */
  isGhostInstance: InstanceTest;
}

/** `reset-before` resets the connection before the request is handled; `reset-after` carries it out, but its answer is lost. */
export type FaultKind = '429' | '429-retry-after' | '500' | '503' | 'reset-before' | 'reset-after';

/** A broker without faults. */
export function goodBehaviour(): Behaviour {
  return {
    latencyMs: 0,
    faultRate: 0,
    failFirst: 0,
    faultKinds: ['503'],
    retryAfter: '1',
    faultOn: () => true,
    seed: 1,
    shortPages: false,
    emptyPagesWithNext: 0,
    maxPageSize: undefined,
    repeatLastPastEnd: false,
    noPageLinks: false,
    ignoreParameters: [],
    ignoreTenantHeaders: [],
    noCount: false,
    isLocked: () => false,
    isGhost: () => false,
    temporalStatus: undefined,
    temporalWriteStatus: undefined,
    noInstanceIds: false,
    silentInstanceLimit: undefined,
    instancePageSize: undefined,
    instancesTogether: undefined,
    refusedTimeProperties: [],
    timePropertiesMissing: [],
    selectsIgnoringTime: false,
    exclusiveBounds: false,
    qShowsMatchesOnly: false,
    noLastN: false,
    lastNBeforeTime: false,
    isLockedInstance: () => false,
    isGhostInstance: () => false,
  };
}

/** Makes the random choices of a behaviour; reproducible for a given seed. */
export class Chance {
  #seed = Number.NaN;
  #state = 0;
  #faults = 0;

  constructor(private readonly behaviour: Behaviour) {}

  /** The fault to inject into the next request; undefined for none. */
  nextFault(request: { readonly method: string; readonly path: string }): FaultKind | undefined {
    const behaviour = this.behaviour;
    const { faultKinds } = behaviour;
    if (faultKinds.length === 0 || !behaviour.faultOn(request)) return undefined;
    if (behaviour.failFirst > 0) {
      behaviour.failFirst -= 1;
      this.#faults += 1;
      return faultKinds[(this.#faults - 1) % faultKinds.length];
    }
    if (behaviour.faultRate <= 0 || this.#random() >= behaviour.faultRate) return undefined;
    return faultKinds[Math.floor(this.#random() * faultKinds.length)];
  }

  pageSize(limit: number): number {
    if (!this.behaviour.shortPages || limit === 0) return limit;
    return 1 + Math.floor(this.#random() * limit);
  }

  /** Whether the next query page must be empty; counts it if so. */
  takeEmptyPage(): boolean {
    if (this.behaviour.emptyPagesWithNext <= 0) return false;
    this.behaviour.emptyPagesWithNext -= 1;
    return true;
  }

  /** Returns a random number in [0, 1) (mulberry32). */
  #random(): number {
    if (this.#seed !== this.behaviour.seed) {
      this.#seed = this.behaviour.seed;
      this.#state = this.#seed;
    }
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

type InstanceTest = (entityId: string, attribute: string, instanceId: string | undefined) => boolean;
