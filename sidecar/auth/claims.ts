import { ROLES, type Role } from '../shared/roles.js';
import { TokenRefusedError } from './errors.js';

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** Longest name of a caller in records, in characters. */
const MAX_NAME_CHARS = 256;

/** Most values of a claim that are looked at. */
const MAX_VALUES = 10_000;

/**
 * The value of a claim.
 *
 * @param path its name, or names that lead there with dots between them. Names may have dots themselves
 *   (`https://example.org/roles`, `resource_access.city.gateway.roles`): the longest that is there comes first
 */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    const within = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof within !== 'object' || within === null) continue;
    const value = claimAt(within as Claims, path.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * The roles that a claim gives: a list of texts, or one text with blanks between its values, as `scope` has it. Anything else
 * gives none.
 *
 * @param map what values mean; others mean the role of their name, if there is one
 */
export function rolesIn(
  claim: unknown,
  map: ReadonlyMap<string, Role | undefined> = new Map(),
): ReadonlySet<Role> {
  const values = typeof claim === 'string' ? claim.split(/\s+/) : textsIn(claim);
  const roles = values.flatMap((value) => {
    const role = map.has(value) ? map.get(value) : ROLES.find((one) => one === value);
    return role === undefined ? [] : INCLUDED[role];
  });
  return new Set(roles);
}

/** What each role includes. */
const INCLUDED: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  modeller: ['viewer', 'modeller'],
  purger: ['viewer', 'purger'],
  admin: ROLES,
};

/** The tenants that a claim names: a list of texts, or one text. Anything else names none. `""` is the default tenant. */
export function tenantsIn(claim: unknown): ReadonlySet<string> {
  return new Set(textsIn(typeof claim === 'string' ? [claim] : claim).filter((name) => !CONTROL.test(name)));
}

/** No header can name such a tenant, and lists of tenants are told apart by line ends. */
// oxlint-disable-next-line no-control-regex -- that is what they are
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * Who has signed in, for records: the name that a person knows, or that of the provider.
 *
 * @throws TokenRefusedError for a token of nobody
 */
export function nameIn(claims: Claims): string {
  for (const claim of ['preferred_username', 'sub'] as const) {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    if (typeof value === 'string' && value.trim() !== '')
      return value.replaceAll(CONTROLS, ' ').slice(0, MAX_NAME_CHARS);
  }
  throw new TokenRefusedError('It names nobody: it has neither preferred_username nor sub.');
}

const CONTROLS = new RegExp(CONTROL.source, 'g');

function textsIn(claim: unknown): readonly string[] {
  if (!Array.isArray(claim)) return [];
  return claim.slice(0, MAX_VALUES).filter((value): value is string => typeof value === 'string');
}
