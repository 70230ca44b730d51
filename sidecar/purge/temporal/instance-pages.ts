import type { ListedPage } from '../listing/index.js';

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

/** How much a page was asked for, and whether it is marked as partial (206). */
export type PageExtent = Pick<ListedPage, 'isPartial' | 'instances'>;

/**
 * Learns how many instances of an attribute a broker shows at once. Some truncate silently (no 206): a list as long as
 * the longest ever seen may be truncated, a shorter one is not. The limit may depend on whether the query uses lastN.
 */
export class TruncationEvidence {
  readonly #longest = { asked: 0, bare: 0 };
  /** Shortest list that turned out to be silently truncated. */
  readonly #knownTruncated = { asked: Infinity, bare: Infinity };

  /** Notes the length of a list. */
  note(page: PageExtent, length: number): void {
    const mode = modeOf(page);
    this.#longest[mode] = Math.max(this.#longest[mode], length);
  }

  /** Notes that a list of this length was truncated. */
  noteMore(page: PageExtent, length: number): void {
    if (this.isMarkedTruncated(page, length)) return;
    const mode = modeOf(page);
    this.#knownTruncated[mode] = Math.min(this.#knownTruncated[mode], length);
  }

  /** The list may be truncated. */
  mayBeTruncated(page: PageExtent, length: number): boolean {
    return this.isMarkedTruncated(page, length) || length >= this.#longest[modeOf(page)];
  }

  /** The list is truncated: the answer says so, or a list of this length was before. */
  isSurelyTruncated(page: PageExtent, length: number): boolean {
    return this.isMarkedTruncated(page, length) || length >= this.#knownTruncated[modeOf(page)];
  }

  /** The answer says so (206), or the list is as long as was asked for. */
  isMarkedTruncated(page: PageExtent, length: number): boolean {
    return page.isPartial || length >= (page.instances ?? Infinity);
  }
}

function modeOf({ instances }: PageExtent): 'asked' | 'bare' {
  return instances === undefined ? 'bare' : 'asked';
}
