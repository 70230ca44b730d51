/** Who may do what: people who sign in at an OpenID provider, their roles and tenants, and the rules of all routes. */
export { ALL_ROLES, type Caller, type Client, requireRole, requireTenants, tenantsOf } from './caller.js';
export {
  AccessRefusedError,
  RoleMissingError,
  SignInNeededError,
  SignInUnavailableError,
  TenantRefusedError,
  TokenRefusedError,
} from './errors.js';
export { openSignIn } from './open-sign-in.js';
export { type OwnedThing, ROUTE_RULES, type RouteRule, ruleOf } from './route-rules.js';
export { SignIn } from './sign-in.js';
