/** Who uses the console, where people sign in. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Schemas } from '../api/client.js';
import { text } from '../strings.js';

export type Me = Schemas['Me'];
export type Role = Me['roles'][number];

/** Undefined where nobody signs in, or nobody has yet: then the gateway says what is not allowed. */
export const Who = createContext<Me | undefined>(undefined);

/** The roles of somebody, in words; an admin has all the others. */
export function rolesOf({ roles }: Me): string {
  if (roles.includes('admin')) return 'admin';
  return roles.length === 0 ? text.signIn.noRole : roles.join(', ');
}

/** Whether who uses the console is known to have none of some roles. */
export function useLacks(roles: readonly Role[]): Me | undefined {
  const me = useContext(Who);
  return me === undefined || roles.some((role) => me.roles.includes(role)) ? undefined : me;
}
