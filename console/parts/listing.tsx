import type { ComponentChildren } from 'preact';
import type { Loaded } from '../shared/use-load.js';
import { text } from '../strings.js';
import { NoSuchPage, Pager } from './pager.js';
import { Empty, Pending } from './states.js';

interface ListingProps<Item> {
  readonly loaded: Loaded<{ readonly items: readonly Item[]; readonly total: number }>;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** Returns the address of a page, given the value of its parameter; undefined for the first page. */
  readonly to: (page: string | undefined) => string;
  /** Label of the pager for screen readers. */
  readonly label?: string;
  /** Shown if the whole list is empty; not given if the list is never empty. */
  readonly empty?: ComponentChildren;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}

/** One page of a list, or why it cannot be shown, with links to the other pages. */
export function Listing<Item>({ loaded, page, pageSize, to, label, empty, children }: ListingProps<Item>) {
  const { items = [], total = 0 } = loaded.value ?? {};
  const isNothing = loaded.value !== undefined && items.length === 0;
  const isPast = isNothing && (page > 1 || empty === undefined);
  return (
    <>
      <Pending {...loaded} />
      {isPast && <NoSuchPage to={to(undefined)} />}
      {isNothing && !isPast && <Empty>{empty}</Empty>}
      {items.length > 0 && children(items)}
      {items.length > 0 && total > pageSize && (
        <Pager
          {...{ page, pageSize, total, label: label ?? text.models.pages }}
          {...{ back: text.models.before, on: text.models.after }}
          to={(one) => to(one === 1 ? undefined : String(one))}
        />
      )}
    </>
  );
}
