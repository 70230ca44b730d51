import type { ComponentChildren } from 'preact';
import { rangeOf } from '../shared/page-range.js';
import type { Loaded } from '../shared/use-load.js';
import { text } from '../strings.js';
import { Empty, Pending } from './states.js';

interface ListingProps<Item> {
  readonly loaded: Loaded<{ readonly items: readonly Item[]; readonly total: number }>;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** Returns the address of a page, given the value of its parameter; undefined for the first page. */
  readonly to: (page: string | undefined) => string;
  /** Whether a list of one page says how many items it has. */
  readonly isCounted?: boolean;
  /** Shown if the whole list is empty; not given if the list is never empty. */
  readonly empty?: ComponentChildren;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}

/** One page of a list, or why it cannot be shown, with links to the other pages. */
export function Listing<Item>({ loaded, page, pageSize, to, empty, children, ...props }: ListingProps<Item>) {
  const { items = [], total = 0 } = loaded.value ?? {};
  const isNothing = loaded.value !== undefined && items.length === 0;
  // The list was longer when the address was saved.
  const isPast = isNothing && (page > 1 || empty === undefined);
  const { first, last, hasBefore, hasAfter } = rangeOf(page, pageSize, total);
  return (
    <>
      <Pending {...loaded} />
      {isPast && (
        <Empty>
          <p>{text.paging.gone}</p>
          <a href={to(undefined)}>{text.paging.first}</a>
        </Empty>
      )}
      {isNothing && !isPast && <Empty>{empty}</Empty>}
      {items.length > 0 && children(items)}
      {items.length > 0 && (total > pageSize || props.isCounted === true) && (
        <nav class="pager" aria-label={text.paging.label}>
          {hasBefore && <a href={to(page === 2 ? undefined : String(page - 1))}>{text.paging.before}</a>}
          <span>{text.paging.range(first, last, total)}</span>
          {hasAfter && <a href={to(String(page + 1))}>{text.paging.after}</a>}
        </nav>
      )}
    </>
  );
}
