import type { BrokerReply, Failure } from '../broker/failure.js';
import { COUNT_HEADER, countOf, type Page, type PageQuery } from './page.js';

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
    const message = `it answered an empty list with the impossible count ${written}`;
    return { kind: 'failed-query', cause: new Error(message) };
  }
}

/** MongoDB cannot count by distance, and a broker on it says so by a negative count (Orion-LD: -2). */
function isByDistance(selection: PageQuery['selection']): boolean {
  return selection.some(({ name, value }) => name === 'georel' && value.startsWith('near'));
}
