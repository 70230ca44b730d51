import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import {
  ALL_ROLES,
  type Caller,
  type Client,
  requireRole,
  type RouteRule,
  ruleOf,
  type SignIn,
  SignInNeededError,
} from '../auth/index.js';
import { createVoucher, SAFE_METHODS, TOKEN_HEADER, tokenRefused, type Voucher } from './request-checks.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends it, once it was admitted. */
    caller: Caller;
  }
}

export interface AccessOptions {
  /** The gateway token; two while it is replaced. */
  readonly tokens: readonly string[] | undefined;
  /** Undefined where nobody signs in. */
  readonly signIn?: SignIn | undefined;
  /** AUTH_FORWARD: access tokens go on to the broker. */
  readonly forwardsTokens?: boolean | undefined;
  /** Whether records say from where a request came. */
  readonly notesClients?: boolean | undefined;
  /** Called for each request without the gateway token that it needs. */
  readonly onTokenRefused?: (() => void) | undefined;
}

/** Decides who sends a request, by the gateway token or an access token, and whether they may use its route. */
export class Access {
  readonly #options: AccessOptions;
  readonly #isVouchedFor: Voucher;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#isVouchedFor = createVoucher(options.tokens);
  }

  /** Whether people sign in. */
  get hasSignIn(): boolean {
    return this.#options.signIn !== undefined;
  }

  /**
   * Lets a request to a route in, and notes who sends it.
   *
   * @throws RequestRefusedError (401); SignInNeededError, TokenRefusedError, RoleMissingError, SignInUnavailableError
   */
  async admit(request: FastifyRequest): Promise<void> {
    const { signIn } = this.#options;
    const rule = ruleFor(request);
    if (signIn === undefined) {
      if (rule.needsToken && this.#options.tokens !== undefined) this.#requireToken(request);
      request.caller = this.#vouchedCaller(request);
      return;
    }
    request.caller =
      rule.roles === 'open' ? this.#vouchedCaller(request) : await this.#signedIn(signIn, request);
    requireRole(request.caller, rule);
  }

  /** @throws RequestRefusedError (401) */
  #requireToken(request: FastifyRequest): void {
    if (this.#isVouchedFor(request)) return;
    this.#options.onTokenRefused?.();
    throw tokenRefused(request.headers[TOKEN_HEADER] !== undefined);
  }

  async #signedIn(signIn: SignIn, request: FastifyRequest): Promise<Caller> {
    const { headers } = request;
    const { tokens } = this.#options;
    const token = bearerIn(headers.authorization);
    if (tokens !== undefined && headers[TOKEN_HEADER] !== undefined) {
      // A wrong one is a fault of the gateway in front.
      this.#requireToken(request);
      // What is not of our provider is meant for the broker, as before.
      if (token === undefined || !signIn.isOurs(token)) return this.#vouchedCaller(request);
    }
    if (token === undefined) throw new SignInNeededError(tokens !== undefined);
    return {
      ...(await signIn.verify(token)),
      forwardsAuthorization: this.#options.forwardsTokens === true,
      client: this.#clientOf(request),
    };
  }

  /** A caller who may do everything: the gateway in front vouches for it, or nobody has to sign in. */
  #vouchedCaller(request: FastifyRequest): Caller {
    return {
      name: callerOf(request.headers, this.#isVouchedFor(request)),
      roles: ALL_ROLES,
      tenants: undefined,
      forwardsAuthorization: true,
      validForMs: Infinity,
      client: this.#clientOf(request),
    };
  }

  #clientOf({ ip, headers, socket }: FastifyRequest): Client {
    if (this.#options.notesClients !== true) return {};
    // Behind proxies, it may be anything that a client wrote.
    const address = isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
    const { 'user-agent': userAgent } = headers;
    return {
      clientAddress: address.replace(/^::ffff:(?=\d+\.)/i, ''),
      ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, MAX_AGENT_CHARS) }),
    };
  }
}

const MAX_AGENT_CHARS = 256;

function ruleFor({ method, routeOptions, is404 }: FastifyRequest): RouteRule {
  if (!is404) return ruleOf(method, routeOptions.url ?? '');
  // Whoever may not write learns of no path whether there is something.
  const needsToken = !SAFE_METHODS.has(method);
  return { roles: needsToken ? [] : 'open', tenants: [], needsToken };
}

/** The token of `Authorization: Bearer …` (RFC 6750, section 2.1). */
function bearerIn(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** The caller of whom nothing is known. */
export const ANONYMOUS = 'anonymous';

/** Where the gateway in front names who was authenticated, the most telling first. */
const CALLER_HEADERS = [
  'x-consumer-username',
  'x-consumer-id',
  'x-credential-identifier',
  'x-authenticated-userid',
] as const;

const MAX_CALLER_CHARS = 256;

/**
 * Who a request comes from, for the record.
 *
 * @param isVouchedFor the request has the gateway token, so that these headers come from the gateway in front
 */
export function callerOf(headers: IncomingHttpHeaders, isVouchedFor: boolean): string {
  if (!isVouchedFor) return ANONYMOUS;
  for (const name of CALLER_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return utf8(value).slice(0, MAX_CALLER_CHARS);
  }
  return ANONYMOUS;
}

/** Kong sends names as UTF-8; Node decodes header fields as Latin-1. */
function utf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
