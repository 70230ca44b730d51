/** The table of settings: name, default, meaning and validation. Types, loading and docs/config.md are based on it. */

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
  roleMap,
  wholeNumber,
  tokens,
  type Parse,
} from './setting-values.js';

export interface Setting<Value> {
  /** The default as text; undefined if the setting is optional or its default depends on other settings. */
  readonly default: string | undefined;
  readonly parse: Parse<Value>;
  readonly meaning: string;
  /** Whether the value must never be printed. */
  readonly secret?: boolean;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const settings = {
  HOST: setting('127.0.0.1', listenAddress, 'listen address'),
  PORT: setting('8080', wholeNumber(0, 65_535), 'listen port; 0 picks a free one and prints it'),
  REUSE_PORT: setting(
    'false',
    flag,
    'true: several gateways on one PostgreSQL listen together on PORT, so that they use as many cores (SO_REUSEPORT)',
  ),
  BROKER_URL: optional(
    brokerUrl,
    'base URL of the broker (a path prefix is allowed), or `embedded`; unset means embedded ' +
      'on a loopback HOST, and a mistake on any other HOST or with NODE_ENV=production',
  ),
  METRICS_PORT: optional(
    wholeNumber(0, 65_535),
    'port of its own for GET /metrics, which is then not on PORT; 0 picks a free one',
  ),
  CONSOLE: setting('on', oneOf(['on', 'off']), '`off`: the console is not served under /console/'),
  PUBLIC_URL: optional(
    httpUrl,
    'the URL under which clients and brokers reach this service; default: as in the request',
  ),
  GATEWAY_TOKEN: {
    ...optional(
      oneOrTwoTokens,
      'shared secret of Kong and sidecar; purges and writes without it are ' +
        'refused. Two, separated by a comma, while it is replaced: either is taken',
    ),
    secret: true,
  },
  GATEWAY_OPEN: setting(
    'false',
    flag,
    'true: every caller who reaches the address may purge and write, without a token and by any Host',
  ),
  ALLOWED_HOSTS: optional(
    hosts,
    'comma-separated list of host names by which the gateway is called, besides loopback names and the host of PUBLIC_URL',
  ),
  AUTH_ISSUER: optional(
    issuer,
    'OpenID provider whose access tokens say who sends a request and which roles they have; unset: nobody signs in',
  ),
  AUTH_JWKS_URL: optional(
    keysUrl,
    'where the keys of AUTH_ISSUER are, instead of where its discovery document says; the document is then not read',
  ),
  AUTH_AUDIENCE: optional(nonEmpty, 'the audience (`aud`) that tokens must be for; needed with AUTH_ISSUER'),
  AUTH_ROLES_CLAIM: setting(
    'roles',
    nonEmpty,
    'claim with the roles of a person: its name, or a dotted path such as `realm_access.roles`',
  ),
  AUTH_TENANTS_CLAIM: optional(
    nonEmpty,
    'claim with the tenants that a person may work on, found in the same way; unset: all tenants',
  ),
  AUTH_ROLE_MAP: optional(
    roleMap,
    'comma-separated list of what values of the claim mean, such as `city-admins=admin,interns=viewer`; others mean the role of their name',
  ),
  AUTH_FORWARD: setting(
    'false',
    flag,
    'true: the access token of a person goes on to the broker with their purges and scans',
  ),
  AUTH_CLIENT_ID: optional(
    nonEmpty,
    'client of AUTH_ISSUER as which the console signs people in; unset: the console cannot',
  ),
  TRUSTED_PROXIES: optional(
    networks,
    'comma-separated list of addresses and networks whose X-Forwarded-For says where a request comes from',
  ),
  DATABASE_URL: {
    ...optional(
      databaseUrl,
      'PostgreSQL in which everything is kept, shared by several gateways; unset: SQLite at DATABASE_PATH',
    ),
    secret: true,
  },
  DATABASE_PATH: setting(
    './data/schema.db',
    databasePath,
    'SQLite file in which everything is kept without DATABASE_URL; `:memory:` keeps nothing',
  ),
  PURGE_PAGE_SIZE: setting(
    '1000',
    wholeNumber(1, 1_000_000),
    'entities asked for in one query page; stepped down where the broker refuses',
  ),
  PURGE_BATCH_SIZE: setting(
    '500',
    wholeNumber(1, 100_000),
    'ids in one batch delete (also bounded by 900 kB of body)',
  ),
  PURGE_CONCURRENCY: setting('4', wholeNumber(1, 256), 'delete requests in flight for one entity purge'),
  TEMPORAL_PURGE_CONCURRENCY: setting(
    '16',
    wholeNumber(1, 256),
    'delete requests in flight for one temporal purge',
  ),
  TEMPORAL_WHOLE_DELETE: setting(
    'allow',
    oneOf(['allow', 'refuse']),
    '`refuse`: no whole temporal entities (some brokers delete the current entity with them)',
  ),
  PURGE_STRATEGY: setting(
    'auto',
    oneOf(['auto', 'batch', 'single', 'native']),
    '`auto` (batch, falling back to single), `batch`, `single`, or ' +
      "`native` (the broker's own purge, repeated until its count is 0)",
  ),
  PURGE_MAX_AFFECTED: setting(
    '0',
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
    'refuse, before the first delete, a purge that matches more; 0: no bound',
  ),
  PURGE_MAX_RUNNING: setting(
    '16',
    wholeNumber(1, 1000),
    'purges at work at a time, and as many dry runs; beyond them 503 with Retry-After',
  ),
  PURGE_MAX_QUEUED: setting(
    '1000',
    wholeNumber(1, 1_000_000),
    'purges that may wait as jobs; beyond them 503 with Retry-After',
  ),
  PURGE_RECORD: setting(
    'best-effort',
    oneOf(['best-effort', 'required']),
    '`required`: no purge without a record (503 while the database is away)',
  ),
  PURGE_HISTORY_DAYS: setting(
    '90',
    wholeNumber(1, 36_500),
    'days for which purges are kept in the record after their end',
  ),
  JOB_SECRET: {
    ...optional(
      tokens,
      'secret with which the credentials that a job needs are encrypted at rest; a comma-separated list to ' +
        'replace one: the first encrypts, all decrypt. Without it, jobs with credentials are refused',
    ),
    secret: true,
  },
  PURGE_ARCHIVE: setting(
    'none',
    oneOf(['none', 'best-effort', 'required']),
    'the least that a purge archives: `none`, `best-effort`, or `required` (what cannot be archived is not deleted)',
  ),
  ARCHIVE_URL: optional(
    parseArchiveUrl,
    'where archives of what purges delete are kept: `file:///folder` or `s3://bucket/prefix`; unset: none can be made',
  ),
  ARCHIVE_SECRET: {
    ...optional(archiveSecret, 'secret with which archives are encrypted (AES-256-GCM); unset: they are not'),
    secret: true,
  },
  ARCHIVE_SECRET_BEFORE: {
    ...optional(
      archiveSecret,
      'the secret before ARCHIVE_SECRET: archives that were encrypted with it can still be read',
    ),
    secret: true,
  },
  ARCHIVE_DAYS: setting(
    '30',
    wholeNumber(1, 36_500),
    'days for which an archive is kept after the end of its purge, at most as long as its record',
  ),
  AWS_ACCESS_KEY_ID: optional(nonEmpty, 'key with which requests to the bucket of ARCHIVE_URL are signed'),
  AWS_SECRET_ACCESS_KEY: { ...optional(nonEmpty, 'the secret of AWS_ACCESS_KEY_ID'), secret: true },
  AWS_SESSION_TOKEN: { ...optional(nonEmpty, 'goes with a key that is good for a while only'), secret: true },
  AWS_REGION: setting('us-east-1', nonEmpty, 'region of the bucket'),
  AWS_ENDPOINT_URL: optional(
    httpUrl,
    'where the bucket is, for MinIO and others that speak as S3 does; unset: Amazon S3',
  ),
  ENVIRONMENT_NAME: optional(
    nonEmpty,
    'name of what this gateway belongs to, such as production; shown by the console and `/api/v2/status`',
  ),
  INSTANCE_NAME: optional(
    nonEmpty,
    'name of this process in the records of purges; default: host name and PORT',
  ),
  JOB_LEASE_MS: setting(
    '30000',
    wholeNumber(500, 3_600_000),
    'after so long without a sign of a gateway, others on the same PostgreSQL go on with its jobs, milliseconds',
  ),
  PURGE_WHOLE_TENANT: setting(
    'bounded',
    oneOf(['bounded', 'allow', 'refuse']),
    'a purge that may empty a tenant: `bounded` (needs maxAffected), `allow` (as the standard has it), `refuse`',
  ),
  BROKER_TIMEOUT_MS: setting(
    '30000',
    wholeNumber(1, 3_600_000),
    'milliseconds for one request to the broker',
  ),
  RETRY_MAX_ATTEMPTS: setting('6', wholeNumber(1, 100), 'tries of one request, the first included'),
  RETRY_MIN_DELAY_MS: setting(
    '200',
    wholeNumber(0, 3_600_000),
    'smallest backoff between two tries, milliseconds',
  ),
  RETRY_MAX_DELAY_MS: setting(
    '10000',
    wholeNumber(0, 3_600_000),
    'largest backoff; a Retry-After is honoured up to six times this',
  ),
  BROKER_AWAY_MS: setting(
    '30000',
    wholeNumber(0, 3_600_000),
    'how long a purge that has begun waits for a broker that cannot be reached, milliseconds; 0: not at all',
  ),
  SHUTDOWN_GRACE_MS: setting(
    '25000',
    wholeNumber(0, 3_600_000),
    'milliseconds for running work after SIGTERM, SIGINT or SIGHUP',
  ),
  WRITE_CHECK: setting(
    'off',
    oneOf(['off', 'report', 'enforce']),
    'what holds for writes of entities that no write policy is for: `report` says in ' +
      'the answer whether they fit their models, `enforce` refuses those that do not',
  ),
  BODY_LIMIT_BYTES: setting(
    '5242880',
    wholeNumber(1024, 104_857_600),
    'largest body of a request under /api/v2, and of a write that is checked, bytes (pass-through streams any size)',
  ),
  IMPORT_LIMIT_BYTES: setting(
    '67108864',
    wholeNumber(1024, 536_870_912),
    'largest import of data models as it is sent, bytes; unpacked it may have eight times as much',
  ),
  REMOTE_ALLOWED_ORIGINS: optional(
    origins,
    'comma-separated list of origins from which contexts and schemas may be fetched; nothing else ever is',
  ),
  CONTEXT_BASE_IRI: setting(
    'https://uri.etsi.org/ngsi-ld/default-context/',
    baseIri,
    'base of the IRIs of generated terms; the default agrees with brokers used without an @context',
  ),
  WORKBENCH_TIMEOUT_MS: setting(
    '2000',
    wholeNumber(1, 60_000),
    'milliseconds for one piece of work on schemas, contexts and documents of users',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    'URL of an OpenTelemetry collector that takes OTLP over HTTP; spans go to /v1/traces below it',
  ),
  OTEL_SERVICE_NAME: setting('ngsi-ld-gateway', (text) => text, 'name of this gateway in traces'),
  OTEL_TRACES_SAMPLER_ARG: setting(
    '1',
    fraction,
    'share of requests that are traced; one that comes with a trace is traced if that is sampled',
  ),
  LOG_LEVEL: setting('info', oneOf(LOG_LEVELS), `log level: ${LOG_LEVELS.join(', ')}`),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;

/** A name with one of these prefixes that is not in the table is a mistake: a misspelt limit would silently not apply. */
export const RESERVED_PREFIXES = ['PURGE_', 'RETRY_', 'BROKER_', 'TEMPORAL_'] as const;

function setting<Value>(fallback: string, parse: Parse<Value>, meaning: string) {
  return { default: fallback, parse, meaning };
}

function optional<Value>(parse: Parse<Value>, meaning: string) {
  return { default: undefined, parse, meaning };
}
