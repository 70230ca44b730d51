/**
 * The faults that the embedded broker can imitate: those of real brokers, and of the proxies in front of them. By default
 * it has none. Every field may be changed while the broker runs.
 */
export interface Behaviour {
  /** Delay before every request is handled, in milliseconds. */
  latencyMs: number;
  /** Share of requests (0 to 1) that fail, each in one of `faultKinds`. */
  faultRate: number;
  /** How many requests from now on fail, in the order of `faultKinds`; counts down to 0. */
  failFirst: number;
  faultKinds: readonly FaultKind[];
  /** Value of `Retry-After` for the kinds that send it. */
  retryAfter: string;
  /** Which requests `faultRate` and `failFirst` apply to. */
  faultOn: (request: { readonly method: string; readonly path: string }) => boolean;
  /** Seed of the random choices; setting another one restarts them. */
  seed: number;

  /** Query pages hold a random part of what was asked for, at least one entity. */
  shortPages: boolean;
  /** How many query pages from now on come empty, yet with a next link; counts down to 0. */
  emptyPagesWithNext: number;
  /** Largest `limit`, in place of the broker's own. */
  maxPageSize: number | undefined;
  /** An offset past the end gives the last entity again (clause 5.5.9.1). */
  repeatLastPastEnd: boolean;
  /** No next and prev links. */
  noPageLinks: boolean;
  /**
   * Query parameters that are silently ignored. A broker that ignores any accepts queries of any width, and one that
   * ignores `timerel` needs no time query.
   */
  ignoreParameters: readonly string[];
  /** Tenant headers (lower-case) that are ignored. */
  ignoreTenantHeaders: readonly string[];
  /** No count header. */
  noCount: boolean;

  /** Entities whose deletion is refused, temporal ones too: 409, in a batch as an error item. */
  isLocked: (id: string) => boolean;
  /** Entities whose deletion is confirmed but not done. */
  isGhost: (id: string) => boolean;

  /** Status of every temporal request, e.g. 501. */
  temporalStatus: number | undefined;
  /** Status of temporal requests that would change something. */
  temporalWriteStatus: number | undefined;
  /** Instances are shown without `instanceId`, so none can be deleted alone. */
  noInstanceIds: boolean;
  /** Only this many instances of each attribute are shown, the newest, and the answer does not say that there are more. */
  silentInstanceLimit: number | undefined;
  /** Most instances of an attribute in one answer, in place of the broker's own limit; a partial answer is 206. */
  instancePageSize: number | undefined;
  /** Most instances of an entity in one answer, the oldest ones of all its attributes together; a partial answer is 206. */
  instancesTogether: number | undefined;
  /** Values of `timeproperty` that are refused with 400. */
  refusedTimeProperties: readonly string[];
  /** Values of `timeproperty` that no instance has, as if the broker did not store those times. */
  timePropertiesMissing: readonly string[];
  /**
   * Entities are selected, counted and paged regardless of the interval. Those without an instance in it are then left out
   * of the page, which may come short or empty before the end.
   */
  selectsIgnoringTime: boolean;
  /** `after` and `between` exclude `timeAt`. */
  exclusiveBounds: boolean;
  /** q and geoqueries select instances rather than entities: only matching instances are shown. */
  qShowsMatchesOnly: boolean;
  /** `lastN` is refused with 400. */
  noLastN: boolean;
  /** `lastN` is applied before the interval. */
  lastNBeforeTime: boolean;
  /** Parts of a temporal entity that cannot be deleted: 409. `instanceId` is undefined for a whole attribute. */
  isLockedInstance: InstanceTest;
  /** Parts of a temporal entity whose deletion is confirmed but not done. */
  isGhostInstance: InstanceTest;
}

/** `…-before`: nothing was done yet; `reset-after`: the request was carried out, and its answer is lost. */
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

/** The random choices of a behaviour, repeatable by its seed. */
export class Chance {
  readonly #behaviour: Behaviour;
  #seed = Number.NaN;
  #state = 0;
  #faults = 0;

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
  }

  /** The fault of the next request; undefined for none. */
  nextFault(request: { readonly method: string; readonly path: string }): FaultKind | undefined {
    const behaviour = this.#behaviour;
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

  /** How many entities a page holds when `limit` were asked for. */
  pageSize(limit: number): number {
    if (!this.#behaviour.shortPages || limit === 0) return limit;
    return 1 + Math.floor(this.#random() * limit);
  }

  /** Whether the next query page is one of those that come empty. */
  takeEmptyPage(): boolean {
    if (this.#behaviour.emptyPagesWithNext <= 0) return false;
    this.#behaviour.emptyPagesWithNext -= 1;
    return true;
  }

  /** A number from 0 to below 1 (mulberry32). */
  #random(): number {
    if (this.#seed !== this.#behaviour.seed) {
      this.#seed = this.#behaviour.seed;
      this.#state = this.#seed;
    }
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

type InstanceTest = (entityId: string, attribute: string, instanceId: string | undefined) => boolean;
