import type { ComponentChildren } from 'preact';

/** The frame of a page: breadcrumbs, the heading with actions beside it, and an introduction. */
export function Page({
  title,
  crumbs = [],
  actions,
  lead,
  isNarrow = false,
  isBusy,
  children,
}: {
  readonly title: ComponentChildren;
  /** Links to the pages above this one, outermost first. */
  readonly crumbs?: readonly (readonly [href: string, name: string])[];
  /** Shown beside the heading. */
  readonly actions?: ComponentChildren;
  readonly lead?: string | undefined;
  readonly isNarrow?: boolean;
  readonly isBusy?: boolean;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={isNarrow ? 'page narrow' : 'page'} aria-busy={isBusy}>
      {crumbs.length > 0 && (
        <p class="crumb">
          {crumbs.map(([href, name], index) => (
            <span key={href}>
              {index > 0 && ' / '}
              <a href={href}>{name}</a>
            </span>
          ))}
        </p>
      )}
      <div class="heading">
        <h1>{title}</h1>
        {actions}
      </div>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}
