import type * as OAuth from 'oauth4webapi';
import { forgetDrafts, storeDrafts } from '../shared/drafts.js';
import { addressOf } from './address.js';

/**
 * Sign-in by authorization code with PKCE at the OpenID provider of the gateway. Tokens are kept only in the storage of this
 * tab, which is deleted when the tab is closed.
 */

/** What the gateway says of sign-in. */
export interface SignInSettings {
  readonly issuer: string;
  readonly clientId?: string | undefined;
  /** Whom access tokens have to be for. */
  readonly audience: string;
}

/** What is kept of who has signed in. */
interface Session {
  readonly settings: SignInSettings;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Since when. */
  readonly sinceMs: number;
}

/** What is kept while the provider has the page. */
interface Departure {
  readonly settings: SignInSettings;
  readonly verifier: string;
  readonly state: string;
  /** Where the page was. */
  readonly hash: string;
}

/** A token that is refused so soon is not refused for its age: another one would be refused as well, without end. */
const LEAST_AGE_MS = 10_000;

/** For one request to the provider: the page waits for it. */
const TIMEOUT_MS = 10_000;

/** What is shown of the words in which a provider refuses. */
const MAX_REFUSAL_CHARS = 300;

const SESSION = 'ngsi-ld-gateway.session';
const DEPARTURE = 'ngsi-ld-gateway.departure';

const listeners = new Set<() => void>();
let refreshing: Promise<boolean> | undefined;
let failure: unknown;

/** The access token of this tab, if somebody has signed in. */
export function accessToken(): string | undefined {
  return sessionNow()?.accessToken;
}

/** Why the last sign-in failed; undefined if it did not. */
export function signInFailure(): unknown {
  return failure;
}

/** Calls back whenever somebody signs in or out, until the returned function is called. */
export function onSignInChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Leaves the page for the provider, which leads back to it. @throws what the provider cannot do */
export async function signIn(settings: SignInSettings): Promise<void> {
  const oauth = await import('oauth4webapi');
  const provider = await discovered(oauth, settings);
  const { authorization_endpoint: endpoint } = provider;
  if (endpoint === undefined) throw new Error('The provider has no authorization endpoint.');
  const departure: Departure = {
    settings,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    hash: location.hash,
  };
  const url = new URL(endpoint);
  // Any other scheme could run a program in this page.
  if (url.protocol !== 'https:' && url.protocol !== new URL(settings.issuer).protocol)
    throw new Error('The authorization endpoint of the provider is not an https address.');
  const parameters = {
    client_id: settings.clientId ?? '',
    redirect_uri: returnAddress(),
    response_type: 'code',
    scope: 'openid profile',
    state: departure.state,
    code_challenge_method: 'S256',
    code_challenge: await oauth.calculatePKCECodeChallenge(departure.verifier),
    ...resourceOf(settings),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  write(DEPARTURE, departure);
  storeDrafts();
  location.assign(url.href);
}

/** Ends the sign-in that led away from the page, if it comes back from there. Never rejects: see signInFailure(). */
export async function finishSignIn(): Promise<void> {
  const departure = read(DEPARTURE) as Departure | undefined;
  const here = new URL(location.href);
  if (!here.searchParams.has('state')) return;
  sessionStorage.removeItem(DEPARTURE);
  // The code is good for nothing more, and the address is one to keep.
  history.replaceState(null, '', `${here.pathname}${departure?.hash ?? ''}`);
  if (departure === undefined) return;
  const { settings, verifier, state } = departure;
  try {
    const oauth = await import('oauth4webapi');
    const provider = await discovered(oauth, settings);
    const client = clientOf(settings);
    const answer = oauth.validateAuthResponse(provider, client, here, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([provider, client, oauth.None(), answer, returnAddress(), verifier] as const),
      { ...optionsFor(oauth, settings), additionalParameters: resourceOf(settings) },
    );
    keep(settings, await oauth.processAuthorizationCodeResponse(provider, client, response));
  } catch (error) {
    failure = refusalIn(error);
  }
}

/** What a provider says of a sign-in that it refuses, in its words; other errors as they are. */
function refusalIn(error: unknown): unknown {
  const { error: code, error_description: detail } = error as Readonly<Record<string, unknown>>;
  if (typeof code !== 'string') return error;
  const said = typeof detail === 'string' ? `${code}: ${detail}` : code;
  return new Error(`The provider answered ${said.slice(0, MAX_REFUSAL_CHARS)}`);
}

/** Gets a new access token, without the person. @returns whether there is one */
export function refreshSignIn(): Promise<boolean> {
  return (refreshing ??= refreshed().finally(() => {
    refreshing = undefined;
  }));
}

/** Signs out, and loads the page anew without unsaved drafts: another person may use this tab next. */
export function signOut(): void {
  forgetDrafts();
  endSession();
  location.reload();
}

/** Forgets tokens that the gateway no longer accepts. Drafts are kept for when the person signs in again. */
export function endSession(): void {
  sessionStorage.removeItem(SESSION);
  notify();
}

async function refreshed(): Promise<boolean> {
  const { settings, refreshToken, sinceMs = 0 } = sessionNow() ?? {};
  if (settings === undefined || refreshToken === undefined) return false;
  if (Math.abs(Date.now() - sinceMs) < LEAST_AGE_MS) return false;
  try {
    const oauth = await import('oauth4webapi');
    const provider = await discovered(oauth, settings);
    const client = clientOf(settings);
    const options = { ...optionsFor(oauth, settings), additionalParameters: resourceOf(settings) };
    const response = await oauth.refreshTokenGrantRequest(
      provider,
      client,
      oauth.None(),
      refreshToken,
      options,
    );
    const answer = await oauth.processRefreshTokenResponse(provider, client, response);
    // Who has signed out meanwhile stays signed out.
    if (sessionNow()?.refreshToken !== refreshToken) return false;
    keep(settings, answer, refreshToken);
    return true;
  } catch {
    return false;
  }
}

function keep(settings: SignInSettings, answer: OAuth.TokenEndpointResponse, before?: string): void {
  failure = undefined;
  const { access_token: accessToken, refresh_token: refreshToken = before } = answer;
  write(SESSION, { settings, accessToken, refreshToken, sinceMs: Date.now() } satisfies Session);
  notify();
}

async function discovered(oauth: typeof OAuth, settings: SignInSettings): Promise<OAuth.AuthorizationServer> {
  const issuer = new URL(settings.issuer);
  return oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, optionsFor(oauth, settings)),
  );
}

/** Of each request. A provider on this machine may speak http; the gateway allows no other. */
function optionsFor(oauth: typeof OAuth, { issuer }: SignInSettings) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // oxlint-disable-next-line typescript/no-deprecated -- it is marked so that nobody uses it without a reason
  return { signal, [oauth.allowInsecureRequests]: issuer.startsWith('http:') };
}

function clientOf({ clientId = '' }: SignInSettings): OAuth.Client {
  return { client_id: clientId, token_endpoint_auth_method: 'none' };
}

/** Providers that know resource indicators (RFC 8707) take the audience for one, if it is a URL. */
function resourceOf({ audience }: SignInSettings): Readonly<Record<string, string>> {
  return /^https?:\/\//.test(audience) ? { resource: audience } : {};
}

/** Where the provider leads back to: registered there. */
function returnAddress(): string {
  return addressOf('console/');
}

function sessionNow(): Session | undefined {
  return read(SESSION) as Session | undefined;
}

/** What this page has written, if it can be read. */
function read(key: string): unknown {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function write(key: string, value: Session | Departure): void {
  sessionStorage.setItem(key, JSON.stringify(value));
}

function notify(): void {
  for (const listener of listeners) listener();
}
