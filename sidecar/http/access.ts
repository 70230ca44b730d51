import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyRequest, RouteOptions } from 'fastify';
import {
  ALL_ROLES,
  type Caller,
  type Client,
  requireRole,
  type RouteRule,
  ruleOf,
  type TokenVerifier,
  SignInRequiredError,
} from '../auth/index.js';
import { withoutPort } from './trusted-proxies.js';
import { refused, type RequestRefusedError } from './refused.js';
import { SAFE_METHODS } from './request-checks.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, set once the request was admitted. */
    caller: Caller;
  }

  interface FastifyContextConfig {
    /** Who may use the route; set when it is registered. */
    readonly rule?: RouteRule;
  }
}

/** Header in which Kong and other callers send the shared secret. It is never forwarded to the broker. */
export const TOKEN_HEADER = 'x-gateway-token';

/** The tokens that are accepted, and what is recorded and forwarded of their callers. */
export interface AccessOptions {
  /** The gateway token; two while it is being replaced. */
  readonly tokens: readonly string[] | undefined;
  /** Undefined if sign-in is off. */
  readonly signIn?: TokenVerifier | undefined;
  /** AUTH_FORWARD: access tokens are forwarded to the broker. */
  readonly isTokenForwarded?: boolean | undefined;
  /** Whether records include where a request came from. */
  readonly isClientRecorded?: boolean | undefined;
  /** Called for each request that lacks the gateway token it needs. */
  readonly onTokenRefused?: (() => void) | undefined;
}

/**
 * Identifies the caller of a request by the gateway token or an access token, and decides whether the caller may use
 * the route.
 */
export class Access {
  readonly #options: AccessOptions;
  readonly #tokenDigests: readonly Buffer[];

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#tokenDigests = (options.tokens ?? []).map(digest);
  }

  get hasSignIn(): boolean {
    return this.#options.signIn !== undefined;
  }

  /**
   * Admits a request to a route, and notes its caller.
   *
   * @throws RequestRefusedError (401); SignInRequiredError, TokenRefusedError, RoleMissingError, SignInUnavailableError
   */
  async admit(request: FastifyRequest): Promise<void> {
    const { signIn } = this.#options;
    const rule = routeRule(request);
    if (signIn === undefined) {
      if (rule.needsToken && this.#options.tokens !== undefined) this.#requireToken(request);
      request.caller = this.#vouchedCaller(request);
      return;
    }
    request.caller =
      rule.roles === 'open' ? this.#vouchedCaller(request) : await this.#signedIn(signIn, request);
    requireRole(request.caller, rule);
  }

  /** Returns the caller that the gateway in front names, for a request that has the gateway token. */
  vouchedName(headers: IncomingHttpHeaders): string {
    return callerOf(headers, this.#hasToken(headers));
  }

  /** Compares in constant time: digests have the same length, and all of them are compared. */
  #hasToken({ [TOKEN_HEADER]: token }: IncomingHttpHeaders): boolean {
    if (typeof token !== 'string') return false;
    const sent = digest(token);
    return this.#tokenDigests.map((each) => timingSafeEqual(sent, each)).includes(true);
  }

  /** @throws RequestRefusedError (401) */
  #requireToken({ headers }: FastifyRequest): void {
    if (this.#hasToken(headers)) return;
    this.#options.onTokenRefused?.();
    throw tokenRefused(headers[TOKEN_HEADER] !== undefined);
  }

  async #signedIn(signIn: TokenVerifier, request: FastifyRequest): Promise<Caller> {
    const { headers } = request;
    const { tokens } = this.#options;
    const token = bearerToken(headers.authorization);
    if (tokens !== undefined && headers[TOKEN_HEADER] !== undefined) {
      // A wrong gateway token is a fault of the gateway in front.
      this.#requireToken(request);
      // A token that is not from our provider is meant for the broker.
      if (token === undefined || !signIn.isFromIssuer(token)) return this.#vouchedCaller(request);
    }
    if (token === undefined) throw new SignInRequiredError(tokens !== undefined);
    return {
      ...(await signIn.verify(token)),
      forwardsAuthorization: this.#options.isTokenForwarded === true,
      client: this.#clientOf(request),
    };
  }

  /** A caller with all rights: the gateway in front vouches for it, or sign-in is off. */
  #vouchedCaller(request: FastifyRequest): Caller {
    return {
      name: this.vouchedName(request.headers),
      roles: ALL_ROLES,
      tenants: undefined,
      forwardsAuthorization: true,
      validForMs: Infinity,
      client: this.#clientOf(request),
    };
  }

  #clientOf({ ip, headers, socket }: FastifyRequest): Client {
    if (this.#options.isClientRecorded !== true) return {};
    const named = withoutPort(ip);
    // Behind proxies, the value may be anything that a client wrote.
    const address = isIP(named) === 0 ? (socket.remoteAddress ?? '') : named;
    const { 'user-agent': userAgent } = headers;
    return {
      clientAddress: address.replace(/^::ffff:(?=\d+\.)/i, ''),
      ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, MAX_AGENT_CHARS) }),
    };
  }
}

const MAX_AGENT_CHARS = 256;

/** Registers the rule of a route with it. @throws Error if it has none */
export function setRule(route: RouteOptions): void {
  for (const method of [route.method].flat())
    route.config = { ...route.config, rule: ruleOf(method, route.url) };
}

function routeRule({ method, routeOptions: { config }, is404 }: FastifyRequest): RouteRule {
  if (config.rule !== undefined) return config.rule;
  if (!is404) throw new Error('The route has no rule.');
  // Callers who may not write cannot find out which paths exist.
  const needsToken = !SAFE_METHODS.has(method);
  return { roles: needsToken ? [] : 'open', tenants: [], needsToken };
}

/** Creates the refusal of a request without the right gateway token. @param hasOther whether it has a wrong one */
function tokenRefused(hasOther: boolean): RequestRefusedError {
  return refused(
    'unauthorized',
    hasOther
      ? 'The gateway token in the header X-Gateway-Token is wrong. Nothing was done. If a gateway ' +
          'in front, such as Kong, added it, the fault is there and not in the request: its token differs from that of this service.'
      : 'This request needs the gateway token in the header X-Gateway-Token. Nothing was done. If a gateway ' +
          'in front, such as Kong, should have added it, the fault is there and not in the request: its log has the cause.',
    {},
    { 'www-authenticate': 'GatewayToken' },
  );
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** The token of `Authorization: Bearer …` (RFC 6750, section 2.1). */
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** The name of an unknown caller. */
export const ANONYMOUS = 'anonymous';

/** Headers in which the gateway in front names the authenticated caller, the most specific first. */
const CALLER_HEADERS = [
  'x-consumer-username',
  'x-consumer-id',
  'x-credential-identifier',
  'x-authenticated-userid',
] as const;

const MAX_CALLER_CHARS = 256;

/**
 * Returns the name of the caller, for the record.
 *
 * @param isVouchedFor whether the request has the gateway token, so that these headers come from the gateway in front
 */
export function callerOf(headers: IncomingHttpHeaders, isVouchedFor: boolean): string {
  if (!isVouchedFor) return ANONYMOUS;
  for (const name of CALLER_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '')
      return utf8(value).slice(0, MAX_CALLER_CHARS).toWellFormed();
  }
  return ANONYMOUS;
}

/** Decodes a name: Kong sends UTF-8, but Node decodes header fields as Latin-1. */
function utf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
