import type { Behaviour } from './behaviour.js';
import type { Limits } from './exchange.js';
import { datasetIdOf } from './model.js';
import { ALWAYS, type History, TIME_OF, type TemporalInstance } from './temporal-history.js';
import type { TimeQuery } from './temporal-selection.js';

/** Datasets to show; undefined in the set represents instances without a datasetId. */
export type Datasets = ReadonlySet<string | undefined>;

/** The instances of an attribute to show, in order. */
export interface Choice {
  readonly instances: readonly TemporalInstance[];
  /** There are more instances, and the answer must say so (206). */
  readonly isPartial: boolean;
}

export type InstanceFilter = (instance: TemporalInstance) => boolean;

export interface InstanceBounds {
  readonly behaviour: Behaviour;
  readonly limits: Pick<Limits, 'instancesPerAttribute'>;
}

/**
 * Makes the function that chooses which instances of an attribute to show: those in the interval and of the given
 * datasets, oldest first; with lastN, the newest ones, newest first (clauses 5.7.4.4, 6.3.10).
 */
export function instanceChooser(
  time: TimeQuery,
  datasets: Datasets | undefined,
  { behaviour, limits }: InstanceBounds,
): (history: History, isMeant?: InstanceFilter) => Choice {
  const { lastN, property, range } = time;
  const { silentInstanceLimit, lastNBeforeTime } = behaviour;
  const showsNewestFirst = lastN !== undefined;
  const isSilent = silentInstanceLimit !== undefined;
  const pageSize = silentInstanceLimit ?? behaviour.instancePageSize ?? limits.instancesPerAttribute;
  const most = Math.min(lastN ?? Infinity, pageSize);
  const searched = lastNBeforeTime && lastN !== undefined ? ALWAYS : range;

  return (history, isMeant) => {
    const found: TemporalInstance[] = [];
    let isPartial = false;
    for (const instance of history.within(property, searched, showsNewestFirst || isSilent)) {
      if (datasets?.has(datasetIdOf(instance.body)) === false) continue;
      if (isMeant?.(instance) === false) continue;
      isPartial = found.length === most;
      if (isPartial) break;
      found.push(instance);
    }
    const instances = found.filter(
      (instance) => searched === range || isWithin(TIME_OF[property](instance), range),
    );
    if (isSilent && !showsNewestFirst) instances.reverse();
    return { instances, isPartial: isPartial && !isSilent };
  };
}

function isWithin(time: number, { from, to }: TimeQuery['range']): boolean {
  return time >= from && time < to;
}

/** The latest time that a Date can hold, in milliseconds. */
const MAX_DATE_MS = 8.64e15;

/** Computes the `Content-Range` of a partial answer: the range in which the answer is complete (clause 6.3.10). */
export class ContentRange {
  #start: number | undefined;
  #end: number | undefined;

  constructor(private readonly time: TimeQuery) {}

  note({ instances, isPartial: isPartial }: Choice): void {
    const [first] = instances;
    const last = instances.at(-1);
    if (first === undefined || last === undefined) return;
    const { lastN } = this.time;
    const timeOf = TIME_OF[this.time.property];
    // The first truncated list ends the range, so that a client continuing from there misses no instance.
    const nearer = lastN === undefined ? Math.min : Math.max;
    const start = timeOf(first);
    this.#start = nearer(this.#start ?? start, start);
    if (!isPartial) return;
    const end = timeOf(last);
    this.#end = nearer(this.#end ?? end, end);
  }

  /** The value of the header; undefined if everything is shown. */
  get header(): string | undefined {
    if (this.#start === undefined || this.#end === undefined) return undefined;
    const { range, lastN } = this.time;
    const bound = lastN === undefined ? range.from : range.to;
    const start = Math.abs(bound) <= MAX_DATE_MS ? bound : this.#start;
    return `DateTime ${dateTime(start)}-${dateTime(this.#end)}/${lastN ?? '*'}`;
  }
}

/** Formats a time. Instances without the time property come first; if only those are shown, the range starts in 1970. */
function dateTime(time: number): string {
  return new Date(Math.abs(time) <= MAX_DATE_MS ? time : 0).toISOString();
}
