import type { ComponentChildren } from 'preact';

/** A part of a page with its heading. */
export function Card({
  id,
  title,
  tools,
  isBusy,
  children,
}: {
  /** Of the heading, by which the part is called. */
  readonly id: string;
  readonly title: ComponentChildren;
  /** Stand beside the heading. */
  readonly tools?: ComponentChildren;
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
}) {
  const heading = <h2 id={id}>{title}</h2>;
  return (
    <section class="card" aria-labelledby={id} aria-busy={isBusy}>
      {tools === undefined ? (
        heading
      ) : (
        <div class="bar">
          {heading}
          {tools}
        </div>
      )}
      {children}
    </section>
  );
}
