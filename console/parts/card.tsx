import type { ComponentChildren } from 'preact';

/** A section of a page with a heading. */
export function Card({
  id,
  title,
  tools,
  isBusy,
  children,
}: {
  /** Id of the heading, which labels the section. */
  readonly id: string;
  readonly title: ComponentChildren;
  /** Shown beside the heading. */
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

/** A list of names and values; undefined values are omitted. */
export function PropertyList({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
