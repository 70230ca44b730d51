import { type ComponentChildren, createContext } from 'preact';
import { text } from '../strings.js';
import { useContext } from 'preact/hooks';
import type { Schemas } from '../api/client.js';

/** Content that needs one of some roles. Everybody sees it, but for users without the role it is disabled, with the reason. */
export function ForRole({
  roles,
  children,
}: {
  readonly roles: readonly Role[];
  readonly children: ComponentChildren;
}) {
  const me = useMissingRole(roles);
  if (me === undefined) return <>{children}</>;
  return (
    <fieldset class="not-allowed" disabled>
      <legend class="hint">{text.signIn.lacks(roles.join(' or '), roleNames(me))}</legend>
      {children}
    </fieldset>
  );
}

export type Me = Schemas['Me'];
export type Role = Me['roles'][number];

/** Undefined if sign-in is off, or the user has not signed in yet. The gateway then says what is not allowed. */
export const CurrentUser = createContext<Me | undefined>(undefined);

/** Formats the roles of a user; an admin has all the others. */
export function roleNames({ roles }: Me): string {
  if (roles.includes('admin')) return 'admin';
  return roles.length === 0 ? text.signIn.noRole : roles.join(', ');
}

/** Returns the user if they are known to have none of the given roles; otherwise undefined. */
export function useMissingRole(roles: readonly Role[]): Me | undefined {
  const me = useContext(CurrentUser);
  return me === undefined || roles.some((role) => me.roles.includes(role)) ? undefined : me;
}
