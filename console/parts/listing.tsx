import type { ComponentChildren } from 'preact';
import { type Page, pageParams } from '../api/client.js';
import { type Loaded, useLoad } from '../shared/hooks.js';
import { text } from '../strings.js';
import { Empty, Pending } from './states.js';

/** Number of items on a page of a list. */
const PAGE_SIZE = 25;

/** One page of a list. */
interface PagedList<Item> extends Loaded<Page<Item>> {
  /** From 1. */
  readonly page: number;
}

/**
 * Loads the page of a list that the address names.
 *
 * @param key changes whenever another list is meant
 */
export function usePagedList<Item>(
  params: URLSearchParams,
  key: string,
  load: (query: ReturnType<typeof pageParams>, signal: AbortSignal) => Promise<Page<Item>>,
  everyMs?: number,
): PagedList<Item> {
  const page = pageOf(params.get('page'));
  const query = pageParams(page, PAGE_SIZE);
  return { ...useLoad(`${key} ${page}`, (signal) => load(query, signal), everyMs), page };
}

/** Returns the page number in an address, from 1. @param given the text of its parameter */
export function pageOf(given: string | null): number {
  return Math.max(1, Math.trunc(Number(given ?? '1')) || 1);
}

interface ListingProps<Item> {
  readonly list: PagedList<Item>;
  /** Returns the address of a page, given the value of its parameter; undefined for the first page. */
  readonly to: (page: string | undefined) => string;
  /** Whether a list of one page says how many items it has. */
  readonly isCounted?: boolean;
  /** Shown if the whole list is empty; not given if the list is never empty. */
  readonly empty?: ComponentChildren;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}

/** One page of a list, or why it cannot be shown, with links to the other pages. */
export function Listing<Item>({ list, to, empty, isCounted = false, children }: ListingProps<Item>) {
  const { value, page } = list;
  const { items = [], total = 0 } = value ?? {};
  const isNothing = value !== undefined && items.length === 0;
  // The list was longer when the address was saved.
  const isPast = isNothing && (page > 1 || empty === undefined);
  const last = Math.min(page * PAGE_SIZE, total);
  return (
    <>
      <Pending {...list} />
      {isPast && (
        <Empty>
          <p>{text.paging.gone}</p>
          <a href={to(undefined)}>{text.paging.first}</a>
        </Empty>
      )}
      {isNothing && !isPast && <Empty>{empty}</Empty>}
      {items.length > 0 && children(items)}
      {items.length > 0 && (total > PAGE_SIZE || isCounted) && (
        <nav class="pager" aria-label={text.paging.label}>
          {page > 1 && <a href={to(page === 2 ? undefined : String(page - 1))}>{text.paging.before}</a>}
          <span>{text.paging.range((page - 1) * PAGE_SIZE + 1, last, total)}</span>
          {last < total && <a href={to(String(page + 1))}>{text.paging.after}</a>}
        </nav>
      )}
    </>
  );
}
