import { rangeOf } from '../shared/page-range.js';
import { text } from '../strings.js';

interface PagerProps {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  /** Returns the address of a page. */
  readonly to: (page: number) => string;
  /** Label of the pager for screen readers. */
  readonly label: string;
  readonly back: string;
  readonly on: string;
}

/** Links to the other pages of a list. */
export function Pager({ page, pageSize, total, to, label, back, on }: PagerProps) {
  const { first, last, hasBefore, hasAfter } = rangeOf(page, pageSize, total);
  return (
    <nav class="pager" aria-label={label}>
      {hasBefore && <a href={to(page - 1)}>{back}</a>}
      <span>{text.range(first, last, total)}</span>
      {hasAfter && <a href={to(page + 1)}>{on}</a>}
    </nav>
  );
}

/** Shown for a page after the last one: the list was longer when the address was saved. */
export function NoSuchPage({ to }: { readonly to: string }) {
  return (
    <div class="state empty">
      <p>{text.noPage.detail}</p>
      <a href={to}>{text.noPage.link}</a>
    </div>
  );
}
