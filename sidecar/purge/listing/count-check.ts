import type { BrokerReply, Failure } from '../broker/failure.js';
import type { Page, PageQuery } from './page.js';

/** The header that holds the total (clause 6.3.13). */
const COUNT_HEADER = 'ngsild-results-count';

/** The total that an answer names: a whole number from 0 on; `invalid` for anything else that was written there. */
export function countOf({ headers }: Pick<BrokerReply, 'headers'>): number | 'invalid' | undefined {
  const written = headers.get(COUNT_HEADER);
  if (written === undefined) return undefined;
  return /^\s*\d{1,15}\s*$/.test(written) ? Number(written) : 'invalid';
}

/**
 * Recognises empty lists that are failed queries: some brokers answer `200 []` when their database fails, with a count that was
 * never set (Orion-LD).
 *
 * One for each query of a purge, since brokers count some queries and not others.
 */
export class CountCheck {
  /** Matches were listed beside an invalid count: the broker cannot count this query, and its empty lists are answers. */
  #isUncountable = false;

  /** Learns from a page that was believed. */
  note({ ids, hasInvalidCount }: Pick<Page, 'ids' | 'hasInvalidCount'>): void {
    this.#isUncountable ||= ids.length > 0 && hasInvalidCount;
  }

  /** The failure in an answer that looks like a page; undefined when it may be believed. */
  failureOf(reply: BrokerReply, { selection }: Pick<PageQuery, 'selection'>): Failure | undefined {
    const isEmpty = /^\s*(?:\[\s*\]\s*)?$/.test(reply.body);
    if (!isEmpty || countOf(reply) !== 'invalid') return undefined;
    if (this.#isUncountable || isByDistance(selection)) return undefined;
    const written = (reply.headers.get(COUNT_HEADER) ?? '').trim().slice(0, 40);
    const message = `it answered an empty list with the count ${written}, which cannot be`;
    return { kind: 'failed-query', cause: new Error(message) };
  }
}

/** MongoDB cannot count by distance, and a broker on it says so by a negative count (Orion-LD: -2). */
function isByDistance(selection: PageQuery['selection']): boolean {
  return selection.some(({ name, value }) => name === 'georel' && value.startsWith('near'));
}
