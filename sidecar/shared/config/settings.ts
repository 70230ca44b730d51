/** The table of settings: name, default and validation. docs/config.md says what each setting does. */

import { parseArchiveUrl } from './archive-url.js';
import {
  archiveSecret,
  baseIri,
  brokerUrl,
  databasePath,
  databaseUrl,
  flag,
  fraction,
  hosts,
  httpUrl,
  issuer,
  keysUrl,
  listenAddress,
  networks,
  nonEmpty,
  oneOf,
  oneOrTwoTokens,
  origins,
  publicUrl,
  roleMap,
  wholeNumber,
  tokens,
  type Parse,
} from './setting-values.js';

export interface Setting<Value> {
  /** The default as text; undefined if the setting is optional or its default depends on other settings. */
  readonly default: string | undefined;
  readonly parse: Parse<Value>;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const settings = {
  HOST: setting('127.0.0.1', listenAddress),
  PORT: setting('8080', wholeNumber(0, 65_535)),
  REUSE_PORT: setting('false', flag),
  PUBLIC_URL: optional(publicUrl),
  METRICS_PORT: optional(wholeNumber(0, 65_535)),
  CONSOLE: setting('on', oneOf(['on', 'off'])),
  ENVIRONMENT_NAME: optional(nonEmpty),
  INSTANCE_NAME: optional(nonEmpty),
  BROKER_URL: optional(brokerUrl),
  BROKER_TIMEOUT_MS: setting('30000', wholeNumber(1, 3_600_000)),
  RETRY_MAX_ATTEMPTS: setting('6', wholeNumber(1, 100)),
  RETRY_MIN_DELAY_MS: setting('200', wholeNumber(0, 3_600_000)),
  RETRY_MAX_DELAY_MS: setting('10000', wholeNumber(0, 3_600_000)),
  BROKER_AWAY_MS: setting('30000', wholeNumber(0, 3_600_000)),
  GATEWAY_TOKEN: optional(oneOrTwoTokens),
  GATEWAY_OPEN: setting('false', flag),
  ALLOWED_HOSTS: optional(hosts),
  AUTH_ISSUER: optional(issuer),
  AUTH_JWKS_URL: optional(keysUrl),
  AUTH_AUDIENCE: optional(nonEmpty),
  AUTH_ROLES_CLAIM: setting('roles', nonEmpty),
  AUTH_TENANTS_CLAIM: optional(nonEmpty),
  AUTH_ROLE_MAP: optional(roleMap),
  AUTH_FORWARD: setting('false', flag),
  AUTH_CLIENT_ID: optional(nonEmpty),
  TRUSTED_PROXIES: optional(networks),
  DATABASE_URL: optional(databaseUrl),
  DATABASE_PATH: setting('./data/schema.db', databasePath),
  JOB_LEASE_MS: setting('30000', wholeNumber(500, 3_600_000)),
  PURGE_MAX_AFFECTED: setting('0', wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  PURGE_WHOLE_TENANT: setting('bounded', oneOf(['bounded', 'allow', 'refuse'])),
  PURGE_STRATEGY: setting('auto', oneOf(['auto', 'batch', 'single', 'native'])),
  PURGE_PAGE_SIZE: setting('1000', wholeNumber(1, 1_000_000)),
  PURGE_BATCH_SIZE: setting('500', wholeNumber(1, 100_000)),
  PURGE_CONCURRENCY: setting('4', wholeNumber(1, 256)),
  TEMPORAL_PURGE_CONCURRENCY: setting('16', wholeNumber(1, 256)),
  TEMPORAL_WHOLE_DELETE: setting('allow', oneOf(['allow', 'refuse'])),
  PURGE_MAX_RUNNING: setting('16', wholeNumber(1, 1000)),
  PURGE_MAX_QUEUED: setting('1000', wholeNumber(1, 1_000_000)),
  PURGE_RECORD: setting('best-effort', oneOf(['best-effort', 'required'])),
  PURGE_HISTORY_DAYS: setting('90', wholeNumber(1, 36_500)),
  JOB_SECRET: optional(tokens),
  PURGE_ARCHIVE: setting('none', oneOf(['none', 'best-effort', 'required'])),
  ARCHIVE_URL: optional(parseArchiveUrl),
  ARCHIVE_SECRET: optional(archiveSecret),
  ARCHIVE_SECRET_BEFORE: optional(archiveSecret),
  ARCHIVE_DAYS: setting('30', wholeNumber(1, 36_500)),
  AWS_ACCESS_KEY_ID: optional(nonEmpty),
  AWS_SECRET_ACCESS_KEY: optional(nonEmpty),
  AWS_SESSION_TOKEN: optional(nonEmpty),
  AWS_REGION: setting('us-east-1', nonEmpty),
  AWS_ENDPOINT_URL: optional(httpUrl),
  WRITE_CHECK: setting('off', oneOf(['off', 'report', 'enforce'])),
  BODY_LIMIT_BYTES: setting('5242880', wholeNumber(1024, 104_857_600)),
  IMPORT_LIMIT_BYTES: setting('67108864', wholeNumber(1024, 536_870_912)),
  REMOTE_ALLOWED_ORIGINS: optional(origins),
  CONTEXT_BASE_IRI: setting('https://uri.etsi.org/ngsi-ld/default-context/', baseIri),
  WORKBENCH_TIMEOUT_MS: setting('2000', wholeNumber(1, 60_000)),
  SHUTDOWN_GRACE_MS: setting('25000', wholeNumber(0, 3_600_000)),
  LOG_LEVEL: setting('info', oneOf(LOG_LEVELS)),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl),
  OTEL_SERVICE_NAME: setting('ngsi-ld-gateway', (text) => text),
  OTEL_TRACES_SAMPLER_ARG: setting('1', fraction),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;

/** A name with one of these prefixes that is not in the table is a mistake: a misspelt limit would silently not apply. */
export const RESERVED_PREFIXES = ['PURGE_', 'RETRY_', 'BROKER_', 'TEMPORAL_'] as const;

function setting<Value>(fallback: string, parse: Parse<Value>) {
  return { default: fallback, parse };
}

function optional<Value>(parse: Parse<Value>) {
  return { default: undefined, parse };
}
