import type { ComponentChildren } from 'preact';

/**
 * A column, given by its heading. A column of numbers is aligned to the right. A column of buttons has a heading only for
 * screen readers.
 */
type Column = string | { readonly number: string } | { readonly hidden: string };

/**
 * A table that scrolls horizontally if it is too wide, also by keyboard. Its children are the rows. It is a group rather than a
 * region, because the section around it is the landmark.
 */
export function Table({
  label,
  columns,
  isTall = false,
  children,
}: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly isTall?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={isTall ? 'table tall' : 'table'} role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading key={index} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Heading({ column }: { readonly column: Column }) {
  if (typeof column === 'string') return <th scope="col">{column}</th>;
  if ('hidden' in column)
    return (
      <th scope="col">
        <span class="visually-hidden">{column.hidden}</span>
      </th>
    );
  return (
    <th scope="col" class="number">
      {column.number}
    </th>
  );
}
