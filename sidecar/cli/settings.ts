import { ApiClient } from '../client/client.js';
import { ConfigError, loadConfig, type Config } from '../shared/config/load.js';
import { RESERVED_PREFIXES } from '../shared/config/settings.js';
import { usage } from './exit-codes.js';
import { currentContext, tokenOf } from './gateway-contexts.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Where a command runs. What is not given on the command line is taken from the environment. */
export interface ConnectionOptions {
  readonly gateway?: string;
  readonly broker?: string;
}

/**
 * Returns a client for the gateway of a command, named by `--gateway`, NGSILD_GATEWAY_URL or the current context. Returns
 * undefined if none is named.
 *
 * @throws CliError if it is not the URL of a gateway
 */
export function gatewayOf({ gateway }: ConnectionOptions, env: Env): ApiClient | undefined {
  const named = gateway ?? nonEmpty(env['NGSILD_GATEWAY_URL']);
  const context = named === undefined ? currentContext(env) : undefined;
  const text = named ?? context?.gateway;
  if (text === undefined) return undefined;
  const source = gateway === undefined ? 'NGSILD_GATEWAY_URL' : '--gateway';
  const name = context === undefined ? source : 'The gateway of the current context';
  const { href, pathname } = urlOf(text, name);
  const [path] = /\/(?:api\/v2|console|ngsi-ld\/v1)\/?$/.exec(pathname) ?? [];
  if (path !== undefined) throw usage(`${name} is the base URL of the gateway, without ${path}.`);
  const readToken = () => {
    const ofContext = context === undefined ? undefined : tokenOf(context, env);
    return ofContext === undefined
      ? headerIn(env['NGSILD_GATEWAY_TOKEN'], 'NGSILD_GATEWAY_TOKEN')
      : headerIn(ofContext, 'The output of the token command');
  };
  let token = readToken();
  // A token that was accepted may expire while a purge is followed; it is then read again. One that was never accepted is not.
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
    onResponse: (headers) => {
      if (!headers.has('www-authenticate')) wasAccepted = true;
    },
    shouldRetry: async ({ problem }) => {
      if (problem.status !== 401 || !wasAccepted) return false;
      wasAccepted = false;
      const before = token;
      token = readToken();
      return token !== before;
    },
  });
}

/**
 * An access token signs the user in, and a password is for a proxy. Anything else is the shared token of the gateway, which has
 * no spaces.
 */
function credentialsOf(token: string): Readonly<Record<string, string>> {
  return /^(?:bearer|basic) /i.test(token) ? { authorization: token } : { 'x-gateway-token': token };
}

/** Returns a client for the gateway of a command. @throws CliError if none is named */
export function requireGateway(options: ConnectionOptions, env: Env): ApiClient {
  const gateway = gatewayOf(options, env);
  if (gateway === undefined)
    throw usage('No gateway given: use --gateway URL, NGSILD_GATEWAY_URL or config set-context.');
  return gateway;
}

/** Returns the URL of the broker for a direct purge or scan, or undefined. */
export function brokerOf({ broker, gateway }: ConnectionOptions): URL | undefined {
  if (broker === undefined) return undefined;
  if (gateway !== undefined) throw usage('Use either --gateway or --broker.');
  const url = urlOf(broker, '--broker');
  if (/\/ngsi-ld(?:\/|$)/.test(url.pathname))
    throw usage('--broker is the base URL of the broker, without /ngsi-ld/v1.');
  return url;
}

/**
 * Returns the value of Authorization for the broker, directly or through a gateway. It is never an argument, because other
 * users can see arguments.
 */
export function authorizationOf(env: Env): string | undefined {
  return headerIn(env['NGSILD_AUTHORIZATION'], 'NGSILD_AUTHORIZATION');
}

/** Returns a secret for a header field. @throws CliError, which does not repeat it, if no header field can hold it */
function headerIn(text: string | undefined, name: string): string | undefined {
  const value = nonEmpty(text?.trim());
  if (value !== undefined && !/^[\x20-\x7e]+$/.test(value))
    throw usage(`${name} contains characters that are not allowed in a header field.`);
  return value;
}

/**
 * Returns the limits and retries for purges in this process: those of a gateway with the same environment. Its other settings
 * say how clients reach it, and have no meaning here.
 *
 * @throws CliError that names every mistake
 */
export function engineConfig(env: Env, broker: URL): Config {
  const own = Object.entries(env).filter(
    ([name]) => name !== 'BROKER_URL' && RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  try {
    // Port 0 makes sure that the broker is not taken for the gateway itself.
    return loadConfig({ ...Object.fromEntries(own), PORT: '0', BROKER_URL: broker.href });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw usage([error.message, ...error.mistakes.map((mistake) => `  - ${mistake}`)].join('\n'), {
      cause: error,
    });
  }
}

/** Parses the URL of a gateway or broker. @param name the option or variable it comes from */
export function urlOf(text: string, name: string): URL {
  const url = URL.parse(text) ?? undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw usage(`${name} must be an http or https URL without a query, such as http://localhost:8080.`);
  if (url.username !== '' || url.password !== '')
    throw usage(`${name} must not contain credentials: other users can see arguments, and logs keep URLs.`);
  return url;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
