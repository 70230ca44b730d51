import type { Behaviour } from './behaviour.js';
import type { Limits } from './exchange.js';
import { datasetIdOf } from './model.js';
import { ALWAYS } from './temporal-history.js';
import type { History } from './temporal-history.js';
import { TIME_OF } from './temporal-instance.js';
import type { TemporalInstance } from './temporal-instance.js';
import type { TimeQuery } from './temporal-time.js';

/** Datasets to show; undefined in the set stands for instances without datasetId. */
export type Datasets = ReadonlySet<string | undefined>;

/** The instances of an attribute that are shown, in the order in which they are. */
export interface Choice {
  readonly instances: readonly TemporalInstance[];
  /** Whether there are more, and the client is to know it. */
  readonly isCut: boolean;
}

export type InstanceFilter = (instance: TemporalInstance) => boolean;

/** How many instances the broker shows. */
export interface InstanceBounds {
  readonly behaviour: Behaviour;
  readonly limits: Pick<Limits, 'instancesPerAttribute'>;
}

/**
 * Makes the function that chooses which instances of an attribute are shown: those in the interval and of the
 * datasets, oldest first; with lastN the newest, newest first (clauses 5.7.4.4, 6.3.10).
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
    let isCut = false;
    for (const instance of history.within(property, searched, showsNewestFirst || isSilent)) {
      if (datasets?.has(datasetIdOf(instance.body)) === false) continue;
      if (isMeant?.(instance) === false) continue;
      isCut = found.length === most;
      if (isCut) break;
      found.push(instance);
    }
    const instances = found.filter(
      (instance) => searched === range || isWithin(TIME_OF[property](instance), range),
    );
    if (isSilent && !showsNewestFirst) instances.reverse();
    return { instances, isCut: isCut && !isSilent };
  };
}

function isWithin(time: number, { from, to }: TimeQuery['range']): boolean {
  return time >= from && time < to;
}
