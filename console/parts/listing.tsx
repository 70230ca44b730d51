import type { ComponentChildren } from 'preact';
import type { Loaded } from '../shared/use-load.js';
import { text } from '../strings.js';
import { NoSuchPage, Pager } from './pager.js';
import { Empty, Pending } from './states.js';

interface ListingProps<Item> {
  readonly loaded: Loaded<{ readonly items: readonly Item[]; readonly total: number }>;
  /** From 1 on. */
  readonly page: number;
  readonly pageSize: number;
  /** The address of a page, as its parameter; the first page has none. */
  readonly to: (page: string | undefined) => string;
  /** Names the pages for those who listen. */
  readonly label?: string;
  /** What is shown where there is nothing at all; not given if there is always something. */
  readonly empty?: ComponentChildren;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}

/** A page of a list, or why there is none, and the way to the others. */
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
