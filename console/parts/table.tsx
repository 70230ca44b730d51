import type { ComponentChildren } from 'preact';

/** A table that scrolls by itself where it is too wide, also by keys. */
export function Table({
  label,
  isTall = false,
  children,
}: {
  readonly label: string;
  readonly isTall?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={isTall ? 'table tall' : 'table'} role="region" aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
