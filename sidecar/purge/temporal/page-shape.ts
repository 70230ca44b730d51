/** How much of a page of temporal evolutions to ask for. */
export interface InstancePageShape {
  /** Entities. */
  readonly limit: number;
  /** Instances of each attribute (lastN). */
  readonly instances: number;
}

/** What came of it. */
export interface ShownPage {
  readonly entities: number;
  readonly instances: number;
  /** Instances of the attribute that showed the most. */
  readonly longest: number;
}

/** Instances wanted in one page: enough to keep every delete slot busy, few enough to hold in memory. */
const WANTED = 5000;

/** More than this is refused by some brokers. */
export const INSTANCES_MAX = 1000;

const INSTANCES_MIN = 100;

/** Densities differ from entity to entity: pages grow step by step. */
const GROWTH_MAX = 4;

/** Nothing is known yet: at most so much is asked for. */
export function firstShape(pageSize: number): InstancePageShape {
  return { limit: Math.min(pageSize, 10), instances: INSTANCES_MIN };
}

/** The shape of the next page, going by what came of the last one. */
export function nextShape(shape: InstancePageShape, shown: ShownPage, pageSize: number): InstancePageShape {
  const { limit, instances } = shape;
  if (shown.instances === 0) return { limit: Math.min(pageSize, limit * GROWTH_MAX), instances };
  const perEntity = shown.instances / shown.entities;
  const isFull = shown.longest >= instances;
  // Few entities with long histories: more of each, rather than more of them.
  if (isFull && shown.entities < limit) {
    const factor = Math.min(GROWTH_MAX, WANTED / shown.instances);
    const longer = clamp(instances * factor, INSTANCES_MIN, INSTANCES_MAX);
    const wanted = WANTED / (perEntity * (longer / instances));
    return { limit: clamp(wanted, 1, limit), instances: longer };
  }
  const fits = WANTED / perEntity;
  const wide = clamp(fits, 1, Math.min(pageSize, limit * GROWTH_MAX));
  return {
    limit: wide,
    instances: fits < 1 ? clamp(instances * fits, INSTANCES_MIN, INSTANCES_MAX) : instances,
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.round(value)));
}
