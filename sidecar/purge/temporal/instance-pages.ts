import type { ListedPage } from '../listing/index.js';

/** How much to ask for in a page of temporal evolutions. */
export interface InstancePageShape {
  /** Maximum number of entities. */
  readonly limit: number;
  /** Maximum number of instances of each attribute (lastN). */
  readonly instances: number;
}

export interface ShownPage {
  readonly entities: number;
  readonly instances: number;
  /** Number of instances of the attribute that has the most. */
  readonly longest: number;
}

/** Instances wanted in one page: enough to keep every delete slot busy, few enough to hold in memory. */
const WANTED_INSTANCES = 5000;

/** Maximum for lastN; some brokers refuse more. */
export const MAX_INSTANCES = 1000;

const MIN_INSTANCES = 100;

/** Maximum growth from page to page, because entities differ in how many instances they have. */
const MAX_GROWTH = 4;

/** Returns how much to ask for in the first page, when nothing is known yet. */
export function firstShape(pageSize: number): InstancePageShape {
  return { limit: Math.min(pageSize, 10), instances: MIN_INSTANCES };
}

/** Returns how much to ask for in the next page, based on what the last one has shown. */
export function nextShape(shape: InstancePageShape, shown: ShownPage, pageSize: number): InstancePageShape {
  const { limit, instances } = shape;
  if (shown.instances === 0) return { limit: Math.min(pageSize, limit * MAX_GROWTH), instances };
  const perEntity = shown.instances / shown.entities;
  const isFull = shown.longest >= instances;
  // For few entities with long histories, ask for more instances of each rather than for more entities.
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

/** How many instances a page was asked for, and whether it is marked as partial (206). */
export type PageExtent = Pick<ListedPage, 'isPartial' | 'instances'>;

/**
 * Learns how many instances of an attribute a broker shows at once. Some brokers truncate silently, without a 206. A list as
 * long as the longest ever seen may be truncated; a shorter one is not. The limit may depend on whether the query uses lastN.
 */
export class TruncationEvidence {
  readonly #longest = { asked: 0, bare: 0 };
  /** Length of the shortest list that turned out to be silently truncated. */
  readonly #knownTruncated = { asked: Infinity, bare: Infinity };

  /** Notes the length of a list. */
  note(page: PageExtent, length: number): void {
    const mode = modeOf(page);
    this.#longest[mode] = Math.max(this.#longest[mode], length);
  }

  /** Notes that a list of this length was truncated, unless it is marked as truncated. */
  noteMore(page: PageExtent, length: number): void {
    if (this.isMarkedTruncated(page, length)) return;
    const mode = modeOf(page);
    this.#knownTruncated[mode] = Math.min(this.#knownTruncated[mode], length);
  }

  /** Whether a list may be truncated. */
  mayBeTruncated(page: PageExtent, length: number): boolean {
    return this.isMarkedTruncated(page, length) || length >= this.#longest[modeOf(page)];
  }

  /** Whether a list is certainly truncated: it is marked so, or a list of at most this length was truncated before. */
  isSurelyTruncated(page: PageExtent, length: number): boolean {
    return this.isMarkedTruncated(page, length) || length >= this.#knownTruncated[modeOf(page)];
  }

  /** Whether the answer is partial (206), or the list is as long as was asked for. */
  isMarkedTruncated(page: PageExtent, length: number): boolean {
    return page.isPartial || length >= (page.instances ?? Infinity);
  }
}

function modeOf({ instances }: PageExtent): 'asked' | 'bare' {
  return instances === undefined ? 'bare' : 'asked';
}
