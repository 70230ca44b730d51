import { ApiClient } from '../client/client.js';
import { ConfigError, loadConfig, type Config } from '../shared/config/load.js';
import { GUARDED_PREFIXES } from '../shared/config/settings.js';
import { usage } from './exit-codes.js';
import { currentContext, tokenOf } from './gateway-contexts.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Where a command is done; what is not said on the command line is taken from the environment. */
export interface PlaceOptions {
  readonly gateway?: string;
  readonly broker?: string;
}

/**
 * The gateway that a command talks to: that of `--gateway`, of NGSILD_GATEWAY_URL, or of the current context; undefined where
 * none is named.
 *
 * @throws CliError when it is not the URL of a gateway
 */
export function gatewayOf({ gateway }: PlaceOptions, env: Env): ApiClient | undefined {
  const named = gateway ?? nonEmpty(env['NGSILD_GATEWAY_URL']);
  const context = named === undefined ? currentContext(env) : undefined;
  const text = named ?? context?.gateway;
  if (text === undefined) return undefined;
  const source = gateway === undefined ? 'NGSILD_GATEWAY_URL' : '--gateway';
  const { href } = urlOf(text, context === undefined ? source : 'The gateway of the current context');
  const readToken = () => {
    const ofContext = context === undefined ? undefined : tokenOf(context, env);
    return ofContext === undefined
      ? headerIn(env['NGSILD_GATEWAY_TOKEN'], 'NGSILD_GATEWAY_TOKEN')
      : headerIn(ofContext, 'What the token command wrote');
  };
  let token = readToken();
  // A token that was accepted may expire while a purge is followed; one that never was is not asked for again.
  let wasAccepted = false;
  const authorization = authorizationOf(env);
  const baseUrl = `${href.replace(/\/+$/, '')}/`;
  return new ApiClient({
    baseUrl: () => baseUrl,
    headers: () => ({
      accept: 'application/json',
      ...(authorization === undefined ? {} : { authorization }),
      ...(token === undefined ? {} : credentialsOf(token)),
    }),
    init: { redirect: 'manual' },
    onAnswer: (headers) => {
      if (!headers.has('www-authenticate')) wasAccepted = true;
    },
    again: async ({ problem }) => {
      if (problem.status !== 401 || !wasAccepted) return false;
      wasAccepted = false;
      const before = token;
      token = readToken();
      return token !== before;
    },
  });
}

/**
 * An access token signs in, and a password gets past a proxy; anything else is the shared token of the gateway, which has no
 * blanks.
 */
function credentialsOf(token: string): Readonly<Record<string, string>> {
  return /^(?:bearer|basic) /i.test(token) ? { authorization: token } : { 'x-gateway-token': token };
}

/** @throws CliError where none is named */
export function requireGateway(options: PlaceOptions, env: Env): ApiClient {
  const gateway = gatewayOf(options, env);
  if (gateway === undefined)
    throw usage('No gateway given: use --gateway URL, NGSILD_GATEWAY_URL or config set-context.');
  return gateway;
}

/** The broker that a purge is sent to straight, or undefined. @throws CliError */
export function brokerOf({ broker, gateway }: PlaceOptions): URL | undefined {
  if (broker === undefined) return undefined;
  if (gateway !== undefined) throw usage('Use either --gateway or --broker.');
  const url = urlOf(broker, '--broker');
  if (/\/ngsi-ld(?:\/|$)/.test(url.pathname))
    throw usage('--broker is the base URL of the broker, without /ngsi-ld/v1.');
  return url;
}

/** The value of Authorization for the broker, straight or through a gateway. Never an argument, which others can see. */
export function authorizationOf(env: Env): string | undefined {
  return headerIn(env['NGSILD_AUTHORIZATION'], 'NGSILD_AUTHORIZATION');
}

/** A secret for a header field. @throws CliError, which does not repeat it, for what no header field can hold */
function headerIn(text: string | undefined, name: string): string | undefined {
  const value = nonEmpty(text?.trim());
  if (value !== undefined && !/^[\x20-\x7e]+$/.test(value))
    throw usage(`${name} has characters that a header field cannot have.`);
  return value;
}

/**
 * The limits and retries of purges that are done here: those of a gateway with the same environment. Its other settings say
 * how it is reached, and mean nothing here.
 *
 * @throws CliError naming every mistake
 */
export function engineConfig(env: Env, broker: URL): Config {
  const own = Object.entries(env).filter(
    ([name]) => name !== 'BROKER_URL' && GUARDED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  try {
    // A gateway of its own has another port, so that it cannot be the broker.
    return loadConfig({ ...Object.fromEntries(own), PORT: '0', BROKER_URL: broker.href });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw usage([error.message, ...error.mistakes.map((mistake) => `  - ${mistake}`)].join('\n'), {
      cause: error,
    });
  }
}

/** The URL of a gateway or broker. @param name of the option or variable that it is from @throws CliError */
export function urlOf(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw usage(`${name} must be an http or https URL without a query, such as http://localhost:8080.`);
  if (url.username !== '' || url.password !== '')
    throw usage(`${name} must not contain credentials: other users can see arguments, and logs keep URLs.`);
  return url;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
