import { GatewayError } from '../shared/errors.js';
import type { Role } from '../shared/roles.js';

/** A request that is not allowed: nothing was done. */
export abstract class AccessRefusedError extends GatewayError {
  /** The reason in one word, for metrics. */
  abstract readonly reason: 'sign-in' | 'role' | 'tenant';

  /** Value of `WWW-Authenticate` (RFC 6750, section 3). */
  get challenge(): string | undefined {
    return undefined;
  }
}

/** The request has no access token. */
export class SignInRequiredError extends AccessRefusedError {
  readonly kind = 'unauthorized';
  readonly reason = 'sign-in';

  /** @param hasToken whether the gateway token would be accepted as well */
  constructor(private readonly hasToken: boolean) {
    super(
      'This request needs an access token in the header Authorization, as Bearer' +
        `${hasToken ? ', or the gateway token in X-Gateway-Token' : ''}. Nothing was done.`,
    );
  }

  override get challenge(): string {
    return this.hasToken ? 'Bearer, GatewayToken' : 'Bearer';
  }
}

/** An access token that is not accepted. The messages contain no part of the token. */
export class TokenRefusedError extends AccessRefusedError {
  readonly kind = 'tokenRefused';
  readonly reason = 'sign-in';

  /** @param why a sentence, in ASCII without quotes */
  constructor(private readonly why: string) {
    super(`The access token is not accepted. ${why} Nothing was done.`);
  }

  override get challenge(): string {
    return `Bearer error="invalid_token", error_description="${this.why}"`;
  }
}

/** The signed-in caller lacks the role for a request. */
export class RoleMissingError extends AccessRefusedError {
  readonly kind = 'roleMissing';
  readonly reason = 'role';

  /** @param needed the caller needs one of these roles */
  constructor(name: string, has: Iterable<Role>, needed: readonly Role[]) {
    const own = [...has];
    const roles =
      own.length === 0 ? 'no role here' : `the ${own.length > 1 ? 'roles' : 'role'} ${own.join(', ')}`;
    super(`This needs the role ${needed.join(' or ')}, but ${name} has ${roles}. Nothing was done.`);
  }

  override get challenge(): string {
    return 'Bearer error="insufficient_scope"';
  }
}

/** The request is about a tenant that the access token does not name. */
export class TenantRefusedError extends AccessRefusedError {
  readonly kind = 'tenantRefused';
  readonly reason = 'tenant';
}

/** The provider's keys are needed but cannot be read now. A token that cannot be verified is never accepted. */
export class SignInUnavailableError extends GatewayError {
  readonly kind = 'signInUnavailable';
  override readonly retryAfter: string;

  /** @param seconds until the provider may be asked again */
  constructor(seconds: number) {
    super(
      'The access token cannot be checked now, because the keys of the OpenID provider cannot be read. Nothing was done; ' +
        'try again later.',
    );
    this.retryAfter = String(seconds);
  }
}
