import { text } from '../strings.js';

interface PagerProps {
  /** From 1 on. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  /** The address of a page. */
  readonly to: (page: number) => string;
  /** Names the pages for those who listen. */
  readonly label: string;
  readonly back: string;
  readonly on: string;
}

/** The page that an address names. @param given the text of its parameter */
export function pageOf(given: string | null): number {
  return Math.max(1, Math.trunc(Number(given ?? '1')) || 1);
}

/** Leads through the pages of a list. */
export function Pager({ page, pageSize, total, to, label, back, on }: PagerProps) {
  const first = (page - 1) * pageSize + 1;
  const last = Math.min(page * pageSize, total);
  return (
    <nav class="pager" aria-label={label}>
      {page > 1 && <a href={to(page - 1)}>{back}</a>}
      <span>{text.range(first, last, total)}</span>
      {last < total && <a href={to(page + 1)}>{on}</a>}
    </nav>
  );
}

/** What is shown of a page behind the last one: there were more when its address was kept. */
export function NoSuchPage({ to }: { readonly to: string }) {
  return (
    <div class="state empty">
      <p>{text.noPage.detail}</p>
      <a href={to}>{text.noPage.link}</a>
    </div>
  );
}
