import { GatewayError } from '../errors.js';
import { isLoopback } from '../loopback.js';
import type { ArchiveLocation } from './archive-url.js';
import { isServiceLink, misspeltNames } from './misspelt-names.js';
import { settings, type Setting, type SettingName } from './settings.js';

type Parsed<Name extends SettingName> = ReturnType<(typeof settings)[Name]['parse']>;

/** Settings without a default may be undefined. */
type OptionalName = {
  [Name in SettingName]: (typeof settings)[Name]['default'] extends string ? never : Name;
}[SettingName];

/** The validated configuration, with the names of the environment variables. */
export type Config = Readonly<
  { [Name in Exclude<SettingName, OptionalName | 'BROKER_URL'>]: Parsed<Name> } & {
    [Name in Exclude<OptionalName, 'BROKER_URL'>]: Parsed<Name> | undefined;
  } & {
    BROKER_URL: URL | 'embedded';
    /**
     * Maximum number of entities per page: the setting if given, otherwise a larger limit for brokers that are fast
     * with large pages.
     */
    PURGE_PAGE_SIZE_MAX: number;
  }
>;

/** Larger pages are hardly faster with any broker. */
const MAX_PAGE_SIZE = 10_000;

/** The environment is not a valid configuration; `mistakes` lists all mistakes. */
export class ConfigError extends GatewayError {
  readonly kind = 'internalError';

  constructor(readonly mistakes: readonly string[]) {
    super(`The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}.`);
  }
}

/** Reads the configuration from the environment. @throws ConfigError naming every mistake at once */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const mistakes = [...misspeltNames(env)];
  const values = new Map<string, unknown>();
  for (const [name, { default: fallback, parse }] of Object.entries<Setting<unknown>>(settings)) {
    // Compose files turn an unset variable into an empty one.
    const given = isServiceLink(name, env[name]) ? undefined : env[name];
    const text = given === undefined || given === '' ? fallback : given;
    if (text === undefined) continue;
    try {
      values.set(name, parse(text));
    } catch (error) {
      mistakes.push(`${name} ${error instanceof Error ? error.message : 'is wrong'}`);
    }
  }
  if (!values.has('BROKER_URL')) {
    const host = values.get('HOST');
    if (env['BROKER_URL']) {
      // Already reported as invalid.
    } else if (env['NODE_ENV'] === 'production' || (typeof host === 'string' && !isLoopback(host))) {
      mistakes.push(
        'BROKER_URL is needed when HOST is not loopback or NODE_ENV is production (`embedded` is only for trying out)',
      );
    } else values.set('BROKER_URL', 'embedded');
  }
  values.set('PURGE_PAGE_SIZE_MAX', env['PURGE_PAGE_SIZE'] ? values.get('PURGE_PAGE_SIZE') : MAX_PAGE_SIZE);
  if (isUnintentionallyOpen(values, env)) {
    mistakes.push(
      'GATEWAY_TOKEN is needed when HOST is not loopback and sign-in is off (no AUTH_ISSUER): without it, everyone ' +
        'who can reach the address may purge and write (GATEWAY_OPEN=true allows that)',
    );
  }
  const metricsPort = values.get('METRICS_PORT');
  if (metricsPort !== undefined && metricsPort !== 0 && metricsPort === values.get('PORT'))
    mistakes.push('METRICS_PORT is the same as PORT; leave it unset to serve the metrics there');
  if (isBrokerThisGateway(values)) mistakes.push('BROKER_URL is the address of this gateway itself');
  const [least, most] = [values.get('RETRY_MIN_DELAY_MS'), values.get('RETRY_MAX_DELAY_MS')];
  if (typeof least === 'number' && typeof most === 'number' && least > most) {
    mistakes.push('RETRY_MIN_DELAY_MS must not be above RETRY_MAX_DELAY_MS');
  }
  if (env['AUTH_ISSUER'] && !values.has('AUTH_AUDIENCE'))
    mistakes.push(
      'AUTH_AUDIENCE is needed with AUTH_ISSUER: without it, tokens for other services would be accepted',
    );
  mistakes.push(
    ...sharedPortMistakes(values),
    ...archiveMistakes(values),
    ...ineffectiveSettings(values, env),
  );
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(Object.fromEntries(values)) as Config;
}

/**
 * Whether the gateway is reachable from outside and requires neither a token nor sign-in, without GATEWAY_OPEN to
 * confirm that.
 */
function isUnintentionallyOpen(
  values: ReadonlyMap<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const host = values.get('HOST');
  const isReachable = typeof host === 'string' && !isLoopback(host);
  const isGuarded = Boolean(env['GATEWAY_TOKEN']) || Boolean(env['AUTH_ISSUER']);
  return isReachable && !isGuarded && values.get('GATEWAY_OPEN') !== true;
}

/** Settings required if several gateways share a port: they share their data, and each has its own name and metrics. */
const NEEDED_TO_REUSE_PORT = {
  DATABASE_URL: 'gateways on one port must share a PostgreSQL database',
  INSTANCE_NAME: 'each gateway on the port needs a name of its own',
  METRICS_PORT: 'each gateway on the port has its own metrics',
};

function sharedPortMistakes(values: ReadonlyMap<string, unknown>): readonly string[] {
  if (values.get('REUSE_PORT') !== true) return [];
  return Object.entries(NEEDED_TO_REUSE_PORT)
    .filter(([name]) => !values.has(name))
    .map(([name, reason]) => `${name} is needed with REUSE_PORT: ${reason}`);
}

/** Settings that have no effect without another one: if one of them is set, its effect is expected. */
const EFFECTIVE_ONLY_WITH = {
  AUTH_ISSUER: [
    'AUTH_JWKS_URL',
    'AUTH_AUDIENCE',
    'AUTH_ROLES_CLAIM',
    'AUTH_TENANTS_CLAIM',
    'AUTH_ROLE_MAP',
    'AUTH_FORWARD',
    'AUTH_CLIENT_ID',
  ],
  ARCHIVE_URL: ['ARCHIVE_SECRET', 'ARCHIVE_SECRET_BEFORE'],
} as const;

function ineffectiveSettings(
  values: ReadonlyMap<string, unknown>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const isSet = (name: SettingName) =>
    Boolean(env[name]) && values.has(name) && env[name] !== settings[name].default;
  return Object.entries(EFFECTIVE_ONLY_WITH)
    .filter(([needed]) => !env[needed])
    .flatMap(([needed, names]) =>
      names.filter(isSet).map((name) => `${name} has no effect without ${needed}`),
    );
}

/** Returns what is missing for the archive settings to work. */
function archiveMistakes(values: ReadonlyMap<string, unknown>): readonly string[] {
  const mistakes: string[] = [];
  const least = values.get('PURGE_ARCHIVE');
  const place = values.get('ARCHIVE_URL') as ArchiveLocation | undefined;
  if (least !== 'none' && least !== undefined) {
    if (place === undefined) mistakes.push(`ARCHIVE_URL is needed for PURGE_ARCHIVE=${least as string}`);
    if (values.get('PURGE_STRATEGY') === 'native')
      mistakes.push(
        'PURGE_STRATEGY=native leaves the deletes to the broker, so nothing can be archived: PURGE_ARCHIVE must be none',
      );
  }
  if (place?.kind !== 'bucket') return mistakes;
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    if (!values.has(name)) mistakes.push(`${name} is needed for the bucket of ARCHIVE_URL`);
  return mistakes;
}

/** Whether the broker is this gateway: it would forward each request to itself forever. */
function isBrokerThisGateway(values: ReadonlyMap<string, unknown>): boolean {
  const broker = values.get('BROKER_URL');
  if (!(broker instanceof URL)) return false;
  const port = broker.port === '' ? (broker.protocol === 'https:' ? 443 : 80) : Number(broker.port);
  const host = String(values.get('HOST'));
  const brokerHost = broker.hostname.replace(/^\[|\]$/g, '');
  const isSameHost =
    host === brokerHost ||
    (isLoopback(brokerHost) && (isLoopback(host) || host === '0.0.0.0' || host === '::'));
  return port === values.get('PORT') && isSameHost;
}
