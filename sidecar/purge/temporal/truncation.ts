import type { ListedPage } from '../listing/listing.js';

/** What a page says of how much was asked for, and whether all of it is there. */
export type PageExtent = Pick<ListedPage, 'isPartial' | 'instances'>;

/**
 * What is known of how many instances of an attribute a broker shows at once. Some show no more than so many without a
 * word (no 206): a list as long as the longest ever seen may be cut there, a shorter one is not. How many that are may
 * depend on whether the query asks for a number.
 */
export class TruncationEvidence {
  readonly #longest = { asked: 0, bare: 0 };
  /** Shortest list behind which others were found without a word. */
  readonly #knownTruncated = { asked: Infinity, bare: Infinity };

  /** Notes the length of a list that was shown. */
  note(page: PageExtent, length: number): void {
    const mode = modeOf(page);
    this.#longest[mode] = Math.max(this.#longest[mode], length);
  }

  /** Notes that others were found behind a list. */
  noteMore(page: PageExtent, length: number): void {
    if (this.isMarkedTruncated(page, length)) return;
    const mode = modeOf(page);
    this.#knownTruncated[mode] = Math.min(this.#knownTruncated[mode], length);
  }

  /** Whether the broker may have left out some of a list. */
  mayBeTruncated(page: PageExtent, length: number): boolean {
    return this.isMarkedTruncated(page, length) || length >= this.#longest[modeOf(page)];
  }

  /** Whether some of a list are surely left out, as far as the answer and others like it tell. */
  isSurelyTruncated(page: PageExtent, length: number): boolean {
    return this.isMarkedTruncated(page, length) || length >= this.#knownTruncated[modeOf(page)];
  }

  /** Whether the answer says that some of a list may be left out, or there are as many as were asked for. */
  isMarkedTruncated(page: PageExtent, length: number): boolean {
    return page.isPartial || length >= (page.instances ?? Infinity);
  }
}

function modeOf({ instances }: PageExtent): 'asked' | 'bare' {
  return instances === undefined ? 'bare' : 'asked';
}
