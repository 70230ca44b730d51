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
const WANTED_INSTANCES = 5000;

/** More than this is refused by some brokers. */
export const MAX_INSTANCES = 1000;

const MIN_INSTANCES = 100;

/** Densities differ from entity to entity: pages grow step by step. */
const MAX_GROWTH = 4;

/** Nothing is known yet: at most so much is asked for. */
export function firstShape(pageSize: number): InstancePageShape {
  return { limit: Math.min(pageSize, 10), instances: MIN_INSTANCES };
}

/** The shape of the next page, going by what came of the last one. */
export function nextShape(shape: InstancePageShape, shown: ShownPage, pageSize: number): InstancePageShape {
  const { limit, instances } = shape;
  if (shown.instances === 0) return { limit: Math.min(pageSize, limit * MAX_GROWTH), instances };
  const perEntity = shown.instances / shown.entities;
  const isFull = shown.longest >= instances;
  // Few entities with long histories: more of each, rather than more of them.
  if (isFull && shown.entities < limit) {
    const factor = Math.min(MAX_GROWTH, WANTED_INSTANCES / shown.instances);
    const longer = clamp(instances * factor, MIN_INSTANCES, MAX_INSTANCES);
    const wanted = WANTED_INSTANCES / (perEntity * (longer / instances));
    return { limit: clamp(wanted, 1, limit), instances: longer };
  }
  const fits = WANTED_INSTANCES / perEntity;
  const wide = clamp(fits, 1, Math.min(pageSize, limit * MAX_GROWTH));
  return {
    limit: wide,
    instances: clamp(instances * Math.min(1, fits), MIN_INSTANCES, MAX_INSTANCES),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.round(value)));
}
