import { ROLES, type Role } from '../shared/roles.js';
import { TokenRefusedError } from './errors.js';

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

const MAX_NAME_CHARS = 256;

const MAX_VALUES = 10_000;

/**
 * Returns the value of a claim.
 *
 * @param path the name of the claim, or names joined by dots that lead to a nested value. Names may contain dots themselves
 * (`https://example.org/roles`, `resource_access.city.gateway.roles`): the longest existing name is tried first
 */
export function claimByPath(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    const within = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof within !== 'object' || within === null) continue;
    const value = claimByPath(within as Claims, path.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Returns the roles that a claim grants: a list of strings, or one string with values separated by spaces, such as `scope`. Any
 * other value grants none.
 *
 * @param map the role for each value; a value without an entry stands for the role of the same name, if there is one
 */
export function rolesIn(
  claim: unknown,
  map: ReadonlyMap<string, Role | undefined> = new Map(),
): ReadonlySet<Role> {
  const values = typeof claim === 'string' ? claim.split(/\s+/) : stringsIn(claim);
  const roles = values.flatMap((value) => {
    const role = map.has(value) ? map.get(value) : ROLES.find((one) => one === value);
    return role === undefined ? [] : INCLUDED_ROLES[role];
  });
  return new Set(roles);
}

const INCLUDED_ROLES: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  modeller: ['viewer', 'modeller'],
  purger: ['viewer', 'purger'],
  admin: ROLES,
};

/**
 * Returns the tenants that a claim names: a list of strings, or one string. Any other value names none. `""` is the default
 * tenant.
 */
export function tenantsIn(claim: unknown): ReadonlySet<string> {
  return new Set(
    stringsIn(typeof claim === 'string' ? [claim] : claim).filter((name) => !CONTROL_CHARACTER.test(name)),
  );
}

/** No header can name a tenant with a control character, and stored lists of tenants are separated by line ends. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/;

/**
 * Returns the name of the caller for records: the user name, or otherwise the provider's identifier.
 *
 * @throws TokenRefusedError if the token has neither
 */
export function nameIn(claims: Claims): string {
  for (const claim of ['preferred_username', 'sub'] as const) {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    if (typeof value === 'string' && value.trim() !== '')
      // Half a surrogate pair, as the cut may leave, cannot be stored.
      return value.replaceAll(CONTROL_CHARACTERS, ' ').slice(0, MAX_NAME_CHARS).toWellFormed();
  }
  throw new TokenRefusedError('It names nobody: it has neither preferred_username nor sub.');
}

const CONTROL_CHARACTERS = new RegExp(CONTROL_CHARACTER.source, 'g');

function stringsIn(claim: unknown): readonly string[] {
  if (!Array.isArray(claim)) return [];
  return claim.slice(0, MAX_VALUES).filter((value): value is string => typeof value === 'string');
}
