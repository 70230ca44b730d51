/** Decides who may do what: sign-in with an OpenID provider, roles and tenants, and the rules of all routes. */
export {
  AccessRefusedError,
  RoleMissingError,
  SignInRequiredError,
  SignInUnavailableError,
  TenantRefusedError,
  TokenRefusedError,
} from './errors.js';
export {
  ALL_ROLES,
  type Caller,
  type Client,
  type TenantResource,
  requireRole,
  requireTenants,
  ROUTE_RULES,
  type RouteRule,
  ruleOf,
  tenantsOf,
} from './route-rules.js';
export { createTokenVerifier, TokenVerifier } from './token-verifier.js';
