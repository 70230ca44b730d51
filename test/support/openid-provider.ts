import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { stopLater } from './gateway-harness.js';
import { listening, type Listening } from './listening.js';

/** The audience of the provider's tokens. */
export const AUDIENCE = 'https://gateway.example/api';

/** The client of the console. */
export const CONSOLE_CLIENT = 'console';

type Claims = Readonly<Record<string, unknown>>;

/** Answers a request instead of the provider. */
type Answering = (req: IncomingMessage, res: ServerResponse) => unknown;

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
}

/**
 * An OpenID provider (oidc-provider) in this process. Its users are clients as well, so that a test
 * gets a token with a single request. Tokens that no provider would issue are signed directly with
 * its key.
 */
export class OpenIdProvider {
  readonly issuer: string;
  /** The requested paths. */
  readonly requests: string[] = [];
  /** Answers by path, instead of the provider's own. */
  readonly answers = new Map<string, Answering>();
  readonly #listening: Listening;
  readonly #users: Readonly<Record<string, Claims>>;
  readonly #redirects: string[] = [];
  #key!: SigningKey;
  #own!: Answering;

  private constructor(listened: Listening, users: Readonly<Record<string, Claims>>) {
    this.#listening = listened;
    this.#users = users;
    this.issuer = listened.url;
  }

  /** @param users the claims of each user, by name */
  static async start(users: Readonly<Record<string, Claims>>): Promise<OpenIdProvider> {
    const server = createServer();
    const provider = new OpenIdProvider(await listening(server), users);
    await provider.rotate('first');
    server.on('request', (req, res) => {
      const path = req.url?.split('?', 1)[0] ?? '';
      provider.requests.push(path);
      void (provider.answers.get(path) ?? provider.#own)(req, res);
    });
    stopLater(() => provider.close());
    return provider;
  }

  /** From now on, the provider signs with another key, and publishes only that one. */
  async rotate(kid: string): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    this.#key = {
      kid,
      privateKey,
      publicJwk: { ...(await exportJWK(publicKey)), kid },
      privateJwk: { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' },
    };
    this.#own = this.#makeProvider().callback();
  }

  /** Allows the console of a gateway to sign users in. */
  allowConsole(gatewayUrl: string): void {
    this.#redirects.push(`${gatewayUrl}/console/`);
    this.#own = this.#makeProvider().callback();
  }

  /** The public key, as the provider publishes it. */
  get publicJwk(): JWK {
    return this.#key.publicJwk;
  }

  /** Returns an access token that the provider issues to a user. */
  async tokenOf(user: string): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${user}:${SECRET}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE }),
    });
    const { access_token: token } = (await response.json()) as { readonly access_token?: string };
    if (token === undefined) throw new Error(`The provider answers ${response.status}.`);
    return token;
  }

  /**
   * Signs a token with the provider's key. Its claims are valid unless others are given; undefined
   * omits one.
   */
  async sign(claims: Claims = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const good = { iss: this.issuer, aud: AUDIENCE, sub: 'somebody', iat: now, exp: now + 300, ...claims };
    return new SignJWT(good)
      .setProtectedHeader({ alg: 'RS256', kid: this.#key.kid, typ: 'at+jwt', ...header })
      .sign(this.#key.privateKey);
  }

  /** Connections are refused from now on. */
  close(): Promise<void> {
    return this.#listening.close();
  }

  #makeProvider(): Provider {
    const users = Object.keys(this.#users);
    const configuration: Configuration = {
      jwks: { keys: [this.#key.privateJwk] },
      cookies: { keys: ['some secret'] },
      clients: [
        ...users.map((name) => ({
          client_id: name,
          client_secret: SECRET,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        })),
        ...(this.#redirects.length === 0
          ? []
          : [
              {
                client_id: CONSOLE_CLIENT,
                token_endpoint_auth_method: 'none' as const,
                grant_types: ['authorization_code'],
                redirect_uris: [...this.#redirects],
              },
            ]),
      ],
      findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, ...this.#users[id] }) }),
      extraTokenClaims: (_ctx, token) => ({
        ...this.#users['accountId' in token ? token.accountId : (token.clientId ?? '')],
      }),
      clientBasedCORS: () => true,
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: this.#redirects.length > 0 },
        resourceIndicators: {
          enabled: true,
          defaultResource: async () => AUDIENCE,
          useGrantedResource: async () => true,
          getResourceServerInfo: async () => ({
            scope: 'openid profile',
            audience: AUDIENCE,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 300,
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
    };
    return new Provider(this.issuer, configuration);
  }
}

const SECRET = 'the secret of a client';
