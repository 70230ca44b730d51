import { countMatches } from './bound.js';
import type { PurgeContext } from './context.js';
import type { ListedPage } from './listing/listing.js';

const SAMPLE_MAX = 100;

/** What a purge would reach: the number of matching entities, and some of their ids. */
export interface Preview {
  readonly matched: number;
  readonly sample: readonly string[];
}

/** Counts the matches without deleting: by the broker's count where it gives a plausible one, else by listing them. */
export async function previewEntities(context: PurgeContext, first: ListedPage): Promise<Preview> {
  const sample = new Set<string>();
  let counted: number | undefined;
  const { listed, isComplete } = await countMatches(context, first, (_listed, page) => {
    for (const id of page.ids) if (sample.size < SAMPLE_MAX) sample.add(id);
    const { contradicted, stride } = context.paging;
    const isPlausible =
      page.count !== undefined && !contradicted && stride === undefined && page.count > page.ids.length;
    counted = isPlausible ? page.count : undefined;
    // The sample is full and the count is known: listing the rest would tell nothing new.
    return !(sample.size >= SAMPLE_MAX && counted !== undefined);
  });
  return { matched: isComplete ? listed : Math.max(listed, counted ?? 0), sample: [...sample] };
}
