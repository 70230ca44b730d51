import type { ComponentChildren } from 'preact';
import { type Role, rolesOf, useLacks } from '../shared/who.js';
import { text } from '../strings.js';

/** What needs one of some roles: shown to everybody, and disabled, with the reason, for those without. */
export function ForRole({
  roles,
  children,
}: {
  readonly roles: readonly Role[];
  readonly children: ComponentChildren;
}) {
  const me = useLacks(roles);
  if (me === undefined) return <>{children}</>;
  return (
    <fieldset class="not-allowed" disabled>
      <legend class="hint">{text.signIn.lacks(roles.join(' or '), rolesOf(me))}</legend>
      {children}
    </fieldset>
  );
}
