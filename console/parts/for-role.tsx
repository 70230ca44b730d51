import type { ComponentChildren } from 'preact';
import { type Role, rolesOf, useLacks } from '../shared/who.js';
import { text } from '../strings.js';

/** Content that needs one of some roles. Everybody sees it, but for users without the role it is disabled, with the reason. */
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
