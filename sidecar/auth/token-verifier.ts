import { type CryptoKey, decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';
import type { Clock } from '../shared/clock.js';
import type { Config } from '../shared/config/load.js';
import type { Role } from '../shared/roles.js';
import { claimByPath, nameIn, rolesIn, tenantsIn } from './claims.js';
import { SignInUnavailableError, TokenRefusedError } from './errors.js';
import { ProviderDocuments } from './provider-documents.js';
import { ProviderKeys } from './provider-keys.js';

export interface TokenVerifierOptions {
  /** The issuer, exactly as tokens name it. */
  readonly issuer: string;
  readonly audience: string;
  readonly keysUrl?: URL | undefined;
  /** Where a token has its roles and tenants; see claimByPath(). Without a claim for tenants, all tenants are allowed. */
  readonly rolesClaim: string;
  readonly tenantsClaim?: string | undefined;
  readonly roleMap?: ReadonlyMap<string, Role | undefined> | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Time limit for reading the provider's keys, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /** See ProviderKeysOptions. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/** A caller who has signed in. */
export interface Identity {
  readonly name: string;
  /** The roles, and those that they include. */
  readonly roles: ReadonlySet<Role>;
  /** Undefined means all tenants. */
  readonly tenants: ReadonlySet<string> | undefined;
  /** How much longer the token is accepted, in milliseconds. */
  readonly validForMs: number;
}

/** Signature algorithms that need the provider's private key: neither `none`, nor an algorithm with a shared key (HS256). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/**
 * Types of tokens (`typ`) that identify the sender of a request (RFC 9068). Others, such as proofs and logout tokens, do not.
 */
const ACCESS_TOKEN_TYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  'jwt',
  'at+jwt',
  'application/at+jwt',
]);

/** Names that Keycloak gives its other tokens in the claim `typ`. It signs them with the same key. */
const OTHER_TOKEN_TYPES: ReadonlySet<unknown> = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

/** Claims that only ID tokens have (OpenID Connect Core 1.0 § 3.3.2.11). */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash'];

/** Accepted difference between the clocks of provider and gateway, in seconds. */
const CLOCK_SKEW_S = 30;

/** Maximum number of keys to try for a token that fits several: a forged token costs one verification for each. */
const MAX_KEYS_TRIED = 8;

/** Verifies access tokens of one OpenID provider with its keys. */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #documents: ProviderDocuments;
  readonly #keys: ProviderKeys;

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
    const { clock, onAway, onBack } = options;
    this.#documents = new ProviderDocuments(options);
    this.#keys = new ProviderKeys({ fetchKeys: () => this.#documents.fetchKeys(), clock, onAway, onBack });
  }

  /** Reads the keys before the first token arrives. */
  prefetch(): void {
    this.#keys.prefetch();
  }

  /** Whether a token claims to be from this provider; the claim is not verified. Other tokens may be meant for the broker. */
  isFromIssuer(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#options.issuer;
    } catch {
      return false;
    }
  }

  /** Verifies a token and returns its caller. @throws TokenRefusedError, SignInUnavailableError */
  async verify(token: string): Promise<Identity> {
    const { rolesClaim, tenantsClaim, roleMap, clock } = this.#options;
    const claims = await this.#claimsOf(token);
    return {
      name: nameIn(claims),
      roles: rolesIn(claimByPath(claims, rolesClaim), roleMap),
      tenants: tenantsClaim === undefined ? undefined : tenantsIn(claimByPath(claims, tenantsClaim)),
      validForMs: Math.max(0, ((claims.exp ?? 0) + CLOCK_SKEW_S) * 1000 - clock.now()),
    };
  }

  close(): Promise<void> {
    return this.#documents.close();
  }

  async #claimsOf(token: string): Promise<JWTPayload> {
    try {
      const { payload, protectedHeader } = await this.#verified(token).catch(async (error: unknown) => {
        // Some providers give a new key the name of the old one, or name no keys.
        const mayBeNewKey = error instanceof errors.JWSSignatureVerificationFailed;
        if (!mayBeNewKey || !(await this.#keys.readAgain().catch(() => false))) throw error;
        return this.#verified(token);
      });
      if (!ACCESS_TOKEN_TYPES.has(protectedHeader.typ?.toLowerCase()) || isForClientOnly(payload))
        throw new TokenRefusedError('It is not an access token.');
      return payload;
    } catch (error) {
      if (error instanceof SignInUnavailableError || error instanceof TokenRefusedError) throw error;
      // Errors from jose contain the claims, which must not get into a log, so the error is not kept as a cause.
      throw new TokenRefusedError(reasonOf(error));
    }
  }

  /** Verifies a token with the keys that are known. @throws jose's errors, SignInUnavailableError */
  async #verified(token: string) {
    const { issuer, audience, clock } = this.#options;
    const options = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(clock.now()),
    };
    try {
      return await jwtVerify(token, this.#keys.findKey, options);
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return verifiedByOne(token, error, options);
      throw error;
    }
  }
}

/**
 * Verifies a token that does not say which of several keys signed it, by one key after the other.
 *
 * @throws jose's errors; this one if too many keys fit
 */
async function verifiedByOne(
  token: string,
  keys: errors.JWKSMultipleMatchingKeys & AsyncIterable<CryptoKey>,
  options: JWTVerifyOptions,
) {
  let failed: errors.JWSSignatureVerificationFailed | undefined;
  let tried = 0;
  for await (const key of keys) {
    if (tried === MAX_KEYS_TRIED) throw keys;
    tried += 1;
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      failed = error;
    }
  }
  throw failed ?? keys;
}

/**
 * Whether a token is only for the client itself: it tells the client who has signed in, or gets it new tokens. No service may
 * accept it.
 */
function isForClientOnly(claims: JWTPayload): boolean {
  return OTHER_TOKEN_TYPES.has(claims['typ']) || ID_TOKEN_CLAIMS.some((name) => Object.hasOwn(claims, name));
}

/** Returns why a token was refused. Every error means that the token is not accepted. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'It has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud' && error.reason === 'missing')
      return 'It names no audience: the provider must add AUTH_AUDIENCE to its claim aud.';
    return REASONS_BY_CLAIM[error.claim] ?? 'A claim is wrong.';
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'It is not signed in a way that is accepted here.';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'Its signature is wrong.';
  if (error instanceof errors.JWKSNoMatchingKey) return 'The provider has no such key.';
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'It does not say which key of the provider signed it (kid), and too many fit.';
  return 'It is not a signed JSON Web Token.';
}

const REASONS_BY_CLAIM: Readonly<Record<string, string | undefined>> = {
  iss: 'It is from another issuer.',
  aud: 'It is for another audience.',
  nbf: 'It is not valid yet.',
  exp: 'It does not say when it expires.',
};

/** Opens sign-in as configured; undefined if it is off. */
export function createTokenVerifier(
  config: Config,
  options: Pick<TokenVerifierOptions, 'clock' | 'onAway' | 'onBack' | 'timeoutMs'>,
): TokenVerifier | undefined {
  const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = config;
  // Neither is ever set without the other.
  if (issuer === undefined || audience === undefined) return undefined;
  const verifier = new TokenVerifier({
    issuer,
    audience,
    keysUrl: config.AUTH_JWKS_URL,
    rolesClaim: config.AUTH_ROLES_CLAIM,
    tenantsClaim: config.AUTH_TENANTS_CLAIM,
    roleMap: config.AUTH_ROLE_MAP,
    ...options,
  });
  verifier.prefetch();
  return verifier;
}
