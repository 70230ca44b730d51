/** Decides who may do what: sign-in with an OpenID provider, roles and tenants, and the rules of all routes. */
export {
  AccessRefusedError,
  RoleMissingError,
  SignInNeededError,
  SignInUnavailableError,
  TenantRefusedError,
  TokenRefusedError,
} from './errors.js';
export {
  ALL_ROLES,
  type Caller,
  type Client,
  type OwnedThing,
  requireRole,
  requireTenants,
  ROUTE_RULES,
  type RouteRule,
  ruleOf,
  tenantsOf,
} from './route-rules.js';
export { openSignIn, SignIn } from './sign-in.js';
