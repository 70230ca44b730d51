import type * as OAuth from 'oauth4webapi';
import { clearDrafts, storeDrafts } from '../shared/drafts.js';
import { setAddress } from '../shared/router.js';
import { StoredText } from '../shared/storage.js';
import { urlOf } from './url.js';
import { notifyListeners } from './token.js';

/**
 * Sign-in at the OpenID provider of the gateway, by authorization code with PKCE. Tokens are kept only in the storage of this
 * tab, which is deleted when the tab is closed.
 */

/** The settings of the gateway for sign-in. */
export interface SignInSettings {
  readonly issuer: string;
  readonly clientId?: string | undefined;
  /** The audience that access tokens must have. */
  readonly audience: string;
}

/** The session of the signed-in user. */
interface Session {
  readonly settings: SignInSettings;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** When the access token was received. */
  readonly sinceMs: number;
}

/** What is kept while the browser is at the provider. */
interface PendingSignIn {
  readonly settings: SignInSettings;
  readonly verifier: string;
  readonly state: string;
  /** The fragment of the page that was left. */
  readonly hash: string;
}

/** A token that is refused this soon is not refused because of its age. Another one would be refused as well, endlessly. */
const LEAST_AGE_MS = 10_000;

/** Time limit for one request to the provider, since the page waits for it. */
const TIMEOUT_MS = 10_000;

/** Maximum number of characters shown of a provider's error message. */
const MAX_REFUSAL_CHARS = 300;

const SESSION = new StoredText(() => sessionStorage, 'ngsi-ld-gateway.session');
const PENDING = new StoredText(() => sessionStorage, 'ngsi-ld-gateway.departure');

let refreshing: Promise<boolean> | undefined;
let failure: unknown;

/** Returns the access token of this tab, if the user has signed in. */
export function accessToken(): string | undefined {
  return session()?.accessToken;
}

/** Returns why the last sign-in failed; undefined if it did not. */
export function signInFailure(): unknown {
  return failure;
}

/**
 * Leaves the page for the provider, which later redirects back to it.
 *
 * @throws an error if the provider does not support this
 */
export async function signIn(settings: SignInSettings): Promise<void> {
  const oauth = await import('oauth4webapi');
  const provider = await discover(oauth, settings);
  const { authorization_endpoint: endpoint } = provider;
  if (endpoint === undefined) throw new Error('The provider has no authorization endpoint.');
  const departure: PendingSignIn = {
    settings,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    hash: location.hash,
  };
  const url = new URL(endpoint);
  // A URL with another scheme could run code in this page.
  if (url.protocol !== 'https:' && url.protocol !== new URL(settings.issuer).protocol)
    throw new Error('The authorization endpoint of the provider is not an https address.');
  const parameters = {
    client_id: settings.clientId ?? '',
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: 'openid profile',
    state: departure.state,
    code_challenge_method: 'S256',
    code_challenge: await oauth.calculatePKCECodeChallenge(departure.verifier),
    ...resourceOf(settings),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  // The page needs it after the redirect, when memory is gone.
  if (!PENDING.set(JSON.stringify(departure))) throw new Error('This browser stores nothing for this page.');
  storeDrafts();
  location.assign(url.href);
}

/** Completes a sign-in after the provider has redirected back to the page. Never rejects: see signInFailure(). */
export async function finishSignIn(): Promise<void> {
  const departure = read(PENDING) as PendingSignIn | undefined;
  const here = new URL(location.href);
  if (!here.searchParams.has('state')) return;
  PENDING.set(undefined);
  // The code cannot be used again, and the address should be one to bookmark.
  history.replaceState(null, '', `${here.pathname}${departure?.hash ?? ''}`);
  if (departure === undefined) return;
  const { settings, verifier, state } = departure;
  try {
    const oauth = await import('oauth4webapi');
    const provider = await discover(oauth, settings);
    const client = clientOf(settings);
    const answer = oauth.validateAuthResponse(provider, client, here, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([provider, client, oauth.None(), answer, redirectUri(), verifier] as const),
      optionsFor(oauth, settings),
    );
    saveSession(settings, await oauth.processAuthorizationCodeResponse(provider, client, response));
  } catch (error) {
    failure = providerError(error);
  }
}

/**
 * Returns an error with the provider's own message if the provider refused the sign-in; other errors are returned unchanged.
 */
function providerError(error: unknown): unknown {
  const { error: code, error_description: detail } = error as Readonly<Record<string, unknown>>;
  if (typeof code !== 'string') return error;
  const message = typeof detail === 'string' ? `${code}: ${detail}` : code;
  return new Error(`The provider answered ${message.slice(0, MAX_REFUSAL_CHARS)}`);
}

/** Gets a new access token without asking the user. @returns whether there is one */
export function refreshSignIn(): Promise<boolean> {
  return (refreshing ??= refreshed().finally(() => {
    refreshing = undefined;
  }));
}

/**
 * Signs out and reloads the page without unsaved drafts and what the address keeps of forms, because another person may use
 * this tab next.
 */
export function signOut(): void {
  clearDrafts();
  setAddress(location.hash.replace(/\?.*/s, ''));
  endSession();
  location.reload();
}

/** Forgets tokens that the gateway no longer accepts. Drafts are kept for when the user signs in again. */
export function endSession(): void {
  SESSION.set(undefined);
  notifyListeners();
}

async function refreshed(): Promise<boolean> {
  const { settings, refreshToken, sinceMs = 0 } = session() ?? {};
  if (settings === undefined || refreshToken === undefined) return false;
  if (Math.abs(Date.now() - sinceMs) < LEAST_AGE_MS) return false;
  try {
    const oauth = await import('oauth4webapi');
    const provider = await discover(oauth, settings);
    const client = clientOf(settings);
    const options = optionsFor(oauth, settings);
    const response = await oauth.refreshTokenGrantRequest(
      ...([provider, client, oauth.None(), refreshToken, options] as const),
    );
    const answer = await oauth.processRefreshTokenResponse(provider, client, response);
    // A user who has signed out in the meantime stays signed out.
    if (session()?.refreshToken !== refreshToken) return false;
    saveSession(settings, answer, refreshToken);
    return true;
  } catch {
    return false;
  }
}

function saveSession(settings: SignInSettings, answer: OAuth.TokenEndpointResponse, before?: string): void {
  failure = undefined;
  const { access_token: accessToken, refresh_token: refreshToken = before } = answer;
  const next: Session = { settings, accessToken, refreshToken, sinceMs: Date.now() };
  // Without space or storage, the user is signed in until the page is left.
  SESSION.set(JSON.stringify(next));
  notifyListeners();
}

async function discover(oauth: typeof OAuth, settings: SignInSettings): Promise<OAuth.AuthorizationServer> {
  const issuer = new URL(settings.issuer);
  return oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, optionsFor(oauth, settings)),
  );
}

/** Options for each request. Plain http is only for a provider on this machine; the gateway allows no other. */
function optionsFor(oauth: typeof OAuth, settings: SignInSettings) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // oxlint-disable-next-line typescript/no-deprecated -- it is marked so that nobody uses it without a reason
  const isInsecure = { [oauth.allowInsecureRequests]: settings.issuer.startsWith('http:') };
  return { signal, ...isInsecure, additionalParameters: resourceOf(settings) };
}

function clientOf({ clientId = '' }: SignInSettings): OAuth.Client {
  return { client_id: clientId, token_endpoint_auth_method: 'none' };
}

/** Providers that support resource indicators (RFC 8707) accept the audience as one, if it is a URL. */
function resourceOf({ audience }: SignInSettings): Readonly<Record<string, string>> {
  return /^https?:\/\//.test(audience) ? { resource: audience } : {};
}

/** Returns the redirect URI that is registered with the provider. */
function redirectUri(): string {
  return urlOf('console/');
}

function session(): Session | undefined {
  return read(SESSION) as Session | undefined;
}

/** Reads a value that this page has stored, if it can be read. */
function read(stored: StoredText): unknown {
  try {
    return JSON.parse(stored.get() ?? '') ?? undefined;
  } catch {
    return undefined;
  }
}
