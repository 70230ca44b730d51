import type { ComponentChildren } from 'preact';
import { Button } from './button.js';
import type { Loaded } from '../shared/hooks.js';
import { text } from '../strings.js';
import { Pending } from './states.js';

interface PageProps {
  readonly title: ComponentChildren;
  /** Links to the pages above this one, outermost first. */
  readonly crumbs?: readonly (readonly [href: string, name: string])[];
  /** Shown beside the heading. */
  readonly actions?: ComponentChildren;
  readonly lead?: string | undefined;
  readonly isNarrow?: boolean;
  readonly isBusy?: boolean;
  readonly children?: ComponentChildren;
}

/** The frame of a page: breadcrumbs, the heading with actions beside it, and an introduction. */
export function Page({ title, crumbs = [], actions, lead, isNarrow = false, isBusy, children }: PageProps) {
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

/** The page of something that is still loading, or could not be loaded. */
export function PendingPage({
  error,
  reload,
  ...frame
}: PageProps & Pick<Loaded<unknown>, 'error' | 'reload'>) {
  return (
    <Page {...frame}>
      <Pending error={error} reload={reload} />
    </Page>
  );
}

/** Links to the parts of a page. */
export function Tabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly name: string; readonly isShown: boolean }[];
}) {
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {tabs.map(({ href, name, isShown }) => (
          <li key={href}>
            <a href={href} {...(isShown ? { 'aria-current': 'page' as const } : {})}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Says that changes are not saved, with a button to discard them. */
export function Unsaved({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <>
      <span class="chip warn">{text.models.unsaved}</span>
      <Button class="small" onClick={onDiscard} label={text.models.discard} />
    </>
  );
}
