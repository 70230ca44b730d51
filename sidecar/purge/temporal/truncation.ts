import type { ListedPage } from '../listing/listing.js';

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
