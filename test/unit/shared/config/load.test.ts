import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ConfigError, loadConfig } from '../../../../sidecar/shared/config/load.js';
import { settings, type Setting } from '../../../../sidecar/shared/config/settings.js';
import { isLoopback } from '../../../../sidecar/shared/loopback.js';
import { words } from '../../../support/words.js';

type Env = Readonly<Record<string, string | undefined>>;

function mistakesOf(env: Env): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.mistakes;
  }
  return [];
}

const NEEDS_BROKER = /^BROKER_URL is needed/;

it('loadConfig lets pages grow beyond PURGE_PAGE_SIZE only if that is not set', () => {
  assert.equal(loadConfig({ PURGE_PAGE_SIZE: '' }).PURGE_PAGE_SIZE_MAX, 10_000);
  for (const size of ['200', '1000', '50000'])
    assert.equal(loadConfig({ PURGE_PAGE_SIZE: size }).PURGE_PAGE_SIZE_MAX, Number(size));
});

it('loadConfig has the defaults of the table if nothing is set', () => {
  assert.deepEqual(
    { ...loadConfig({}) },
    {
      HOST: '127.0.0.1',
      PORT: 8080,
      REUSE_PORT: false,
      BROKER_URL: 'embedded',
      GATEWAY_OPEN: false,
      AUTH_ROLES_CLAIM: 'roles',
      AUTH_FORWARD: false,
      PURGE_PAGE_SIZE: 1000,
      PURGE_PAGE_SIZE_MAX: 10_000,
      PURGE_BATCH_SIZE: 500,
      PURGE_CONCURRENCY: 4,
      TEMPORAL_PURGE_CONCURRENCY: 16,
      TEMPORAL_WHOLE_DELETE: 'allow',
      PURGE_STRATEGY: 'auto',
      PURGE_MAX_AFFECTED: 0,
      PURGE_MAX_RUNNING: 16,
      PURGE_MAX_QUEUED: 1000,
      PURGE_RECORD: 'best-effort',
      PURGE_HISTORY_DAYS: 90,
      PURGE_ARCHIVE: 'none',
      ARCHIVE_DAYS: 30,
      AWS_REGION: 'us-east-1',
      JOB_LEASE_MS: 30_000,
      CONSOLE: 'on',
      PURGE_WHOLE_TENANT: 'bounded',
      BROKER_TIMEOUT_MS: 30_000,
      RETRY_MAX_ATTEMPTS: 6,
      RETRY_MIN_DELAY_MS: 200,
      RETRY_MAX_DELAY_MS: 10_000,
      BROKER_AWAY_MS: 30_000,
      SHUTDOWN_GRACE_MS: 25_000,
      DATABASE_PATH: './data/schema.db',
      WRITE_CHECK: 'off',
      BODY_LIMIT_BYTES: 5_242_880,
      IMPORT_LIMIT_BYTES: 67_108_864,
      CONTEXT_BASE_IRI: 'https://uri.etsi.org/ngsi-ld/default-context/',
      WORKBENCH_TIMEOUT_MS: 2000,
      OTEL_SERVICE_NAME: 'ngsi-ld-gateway',
      OTEL_TRACES_SAMPLER_ARG: 1,
      LOG_LEVEL: 'info',
    },
  );
});

it('loadConfig uses the defaults for empty variables, as compose files make of unset ones', () => {
  const empty = Object.fromEntries(Object.keys(settings).map((name) => [name, '']));
  assert.deepEqual(loadConfig(empty), loadConfig({}));
});

it('loadConfig has defaults that its callers cannot change', () => {
  assert.ok(Object.isFrozen(loadConfig({})));
});

it('loadConfig reads every setting', () => {
  const given = {
    HOST: ['0.0.0.0', '0.0.0.0'],
    PORT: ['0', 0],
    BROKER_URL: ['http://orion:1026/prefix', new URL('http://orion:1026/prefix')],
    PUBLIC_URL: ['https://data.city.test/ngsi', new URL('https://data.city.test/ngsi')],
    GATEWAY_TOKEN: ['s3cret-token', ['s3cret-token']],
    PURGE_PAGE_SIZE: ['50', 50],
    PURGE_STRATEGY: ['native', 'native'],
    PURGE_MAX_AFFECTED: ['10', 10],
    PURGE_WHOLE_TENANT: ['allow', 'allow'],
    TEMPORAL_WHOLE_DELETE: ['refuse', 'refuse'],
    RETRY_MIN_DELAY_MS: ['0', 0],
    RETRY_MAX_DELAY_MS: ['0', 0],
    DATABASE_PATH: [':memory:', ':memory:'],
    DATABASE_URL: ['postgres://db/gw', 'postgres://db/gw'],
    BODY_LIMIT_BYTES: ['1024', 1024],
    REMOTE_ALLOWED_ORIGINS: [
      'https://schemas.city.test, HTTP://LOCALHOST:8000,https://schemas.city.test:443',
      ['https://schemas.city.test', 'http://localhost:8000'],
    ],
    CONTEXT_BASE_IRI: ['https://city.test/terms#', 'https://city.test/terms#'],
    WORKBENCH_TIMEOUT_MS: ['50', 50],
    LOG_LEVEL: ['silent', 'silent'],
  } as const;
  const config = loadConfig(
    Object.fromEntries(Object.entries(given).map(([name, [text]]) => [name, text as string])),
  );
  for (const [name, [, value]] of Object.entries(given))
    assert.deepEqual(config[name as keyof typeof given], value, name);
});

it('loadConfig accepts http, https and urn IRIs that terms can follow for CONTEXT_BASE_IRI', () => {
  for (const base of words(`
    https://city.test/ https://data.café.test/wörter/ https://city.test/a# urn:city:terms#
  `)) {
    assert.equal(loadConfig({ CONTEXT_BASE_IRI: base }).CONTEXT_BASE_IRI, base);
  }
});

it('loadConfig accepts every log level and every strategy of the table', () => {
  for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']) {
    assert.deepEqual(mistakesOf({ LOG_LEVEL: level }), [], level);
  }
  for (const strategy of ['auto', 'batch', 'single', 'native']) {
    assert.deepEqual(mistakesOf({ PURGE_STRATEGY: strategy }), [], strategy);
  }
});

it('loadConfig accepts whole numbers from the minimum to the maximum of their setting, and no others', () => {
  const bounds: Readonly<Record<string, readonly [number, number]>> = {
    PORT: [0, 65_535],
    PURGE_PAGE_SIZE: [1, 1_000_000],
    PURGE_BATCH_SIZE: [1, 100_000],
    PURGE_CONCURRENCY: [1, 256],
    TEMPORAL_PURGE_CONCURRENCY: [1, 256],
    PURGE_MAX_AFFECTED: [0, Number.MAX_SAFE_INTEGER],
    PURGE_MAX_RUNNING: [1, 1000],
    PURGE_MAX_QUEUED: [1, 1_000_000],
    PURGE_HISTORY_DAYS: [1, 36_500],
    ARCHIVE_DAYS: [1, 36_500],
    JOB_LEASE_MS: [500, 3_600_000],
    BROKER_TIMEOUT_MS: [1, 3_600_000],
    RETRY_MAX_ATTEMPTS: [1, 100],
    RETRY_MIN_DELAY_MS: [0, 3_600_000],
    RETRY_MAX_DELAY_MS: [0, 3_600_000],
    BROKER_AWAY_MS: [0, 3_600_000],
    SHUTDOWN_GRACE_MS: [0, 3_600_000],
    BODY_LIMIT_BYTES: [1024, 104_857_600],
    IMPORT_LIMIT_BYTES: [1024, 536_870_912],
    WORKBENCH_TIMEOUT_MS: [1, 60_000],
  };
  const numbers = Object.entries<Setting<unknown>>(settings).filter(
    ([name, { default: fallback = '', parse }]) =>
      // A share is no whole number.
      name !== 'OTEL_TRACES_SAMPLER_ARG' && fallback !== '' && typeof parse(fallback) === 'number',
  );
  assert.deepEqual(Object.keys(bounds).sort(), numbers.map(([name]) => name).sort());
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const mistakes = (value: number) =>
      mistakesOf({ RETRY_MIN_DELAY_MS: '0', RETRY_MAX_DELAY_MS: '3600000', [name]: String(value) }).filter(
        (mistake) => mistake.startsWith(`${name} must be a whole number`),
      );
    for (const value of [least, most]) assert.deepEqual(mistakes(value), [], `${name}=${value}`);
    for (const value of [least - 1, most + 1])
      assert.deepEqual(mistakes(value), [`${name} must be a whole number from ${least} to ${most}`]);
  }
});

for (const [name, values] of Object.entries({
  HOST: [' ', 'http://gw', 'gw:8080', '127.0.0.1:8080', '[::1]:8080', '[gw]', '[::1', '[]'],
  PORT: ['-1', '65536', '80.5', '8080x', ' 8080', '1e3', '0x50'],
  BROKER_URL: [
    ...words(`
    orion:1026 ftp://orion http://user:pw@orion http://user@orion http://:pw@orion http://orion?x=1
    http://orion/ngsi-ld/v1 http://orion/ngsi-ld http://orion/#x Embedded
  `),
    'not a url',
  ],
  PUBLIC_URL: [
    '/path',
    'javascript:alert(1)',
    'https://u@host',
    'https://gw/api/v2',
    'https://gw/base/api/v2/',
  ],
  GATEWAY_TOKEN: ['short', 'with a blank in it', 'ünicode-token', 'x'.repeat(1025)],
  GATEWAY_OPEN: ['yes', '1', 'TRUE'],
  REUSE_PORT: ['yes', '1', '8080'],
  CONSOLE: ['no', 'true', 'OFF'],
  ALLOWED_HOSTS: ['http://gw', 'gw:8080', 'gw,', '*', '*.city.test', 'a b'],
  PURGE_PAGE_SIZE: ['0', 'many', '1000001', '-5'],
  PURGE_BATCH_SIZE: ['0', '1.5', '100001'],
  PURGE_CONCURRENCY: ['0', '257'],
  TEMPORAL_PURGE_CONCURRENCY: ['0', '257'],
  TEMPORAL_WHOLE_DELETE: ['deny', 'ALLOW'],
  PURGE_STRATEGY: ['fast', 'AUTO'],
  PURGE_MAX_AFFECTED: ['-1', 'none', '99999999999999999'],
  BROKER_TIMEOUT_MS: ['0', '30s'],
  RETRY_MAX_ATTEMPTS: ['0', '101'],
  RETRY_MIN_DELAY_MS: ['-1', '0.2'],
  RETRY_MAX_DELAY_MS: ['never'],
  SHUTDOWN_GRACE_MS: ['-1'],
  DATABASE_PATH: [
    ' ',
    '\t',
    '~',
    '~/schema.db',
    '~bob/x.db',
    'file:schema.db',
    'sqlite:schema.db',
    'postgres://u@h/db',
  ],
  BODY_LIMIT_BYTES: ['1023', '104857601', '5MB'],
  REMOTE_ALLOWED_ORIGINS: [
    ...words(`
    city.test https://city.test/ https://city.test/schemas https://city.test?x https://u:p@city.test
    https://*.city.test https://city.test, file:///etc/passwd view-source:http://city.test ftp://city.test
    null *
  `),
    'https://city.test https://other.test',
  ],
  CONTEXT_BASE_IRI: [
    ...words(`
    terms/ /terms/ https://city.test https://city.test/terms https:/// javascript:alert(1)/
    javascript:https://city.test/ https://[city/
  `),
    'https://city.test/a b/',
  ],
  WORKBENCH_TIMEOUT_MS: ['0', '2s', '60001'],
  METRICS_PORT: ['-1', '65536', '/metrics', 'on'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'grpc://collector:4317'],
  OTEL_TRACES_SAMPLER_ARG: ['1%', '2', '-0.1', '1.5', 'always_on'],
  LOG_LEVEL: ['verbose', 'INFO'],
})) {
  it(`loadConfig refuses a wrong ${name} by name`, () => {
    for (const value of values) {
      const mistakes = mistakesOf({ [name]: value });
      assert.equal(mistakes.length, 1, `${value}: ${mistakes.join(' | ')}`);
      assert.match(mistakes[0] ?? '', new RegExp(`^${name} must `), value);
    }
  });
}

it('loadConfig refuses the same port for the gateway and its metrics', () => {
  const mistakes = ['METRICS_PORT is the same as PORT; leave it unset to serve the metrics there'];
  assert.deepEqual(mistakesOf({ METRICS_PORT: '8080' }), mistakes);
  assert.deepEqual(mistakesOf({ PORT: '9464', METRICS_PORT: '9464' }), mistakes);
  assert.deepEqual(mistakesOf({ PORT: '0', METRICS_PORT: '0' }), []);
  assert.deepEqual(mistakesOf({ PORT: '9464' }), []);
  assert.deepEqual(mistakesOf({ METRICS_PORT: 'tcp://10.0.0.4:9464' }), []);
});

it('loadConfig refuses gateways on the same port that do not share a database or cannot be told apart', () => {
  assert.deepEqual(mistakesOf({ REUSE_PORT: 'true' }), [
    'DATABASE_URL is needed with REUSE_PORT: gateways on one port must share a PostgreSQL database',
    'INSTANCE_NAME is needed with REUSE_PORT: each gateway on the port needs a name of its own',
    'METRICS_PORT is needed with REUSE_PORT: each gateway on the port has its own metrics',
  ]);
  const DATABASE_URL = 'postgres://u@h/db';
  assert.deepEqual(
    mistakesOf({ REUSE_PORT: 'true', DATABASE_URL, INSTANCE_NAME: 'a', METRICS_PORT: '0' }),
    [],
  );
  assert.deepEqual(mistakesOf({ REUSE_PORT: 'false' }), []);
});

it('loadConfig refuses a minimum delay above the maximum, also if only one of them is set', () => {
  assert.deepEqual(mistakesOf({ RETRY_MIN_DELAY_MS: '10001' }), [
    'RETRY_MIN_DELAY_MS must not be above RETRY_MAX_DELAY_MS',
  ]);
  assert.equal(mistakesOf({ RETRY_MAX_DELAY_MS: '199' }).length, 1);
  assert.deepEqual(mistakesOf({ RETRY_MIN_DELAY_MS: '5', RETRY_MAX_DELAY_MS: '5' }), []);
});

it('loadConfig says what is wrong with a URL that has a scheme', () => {
  const INVALID =
    'is not a valid URL: its host must be a name or an IP address, and its port a number up to 65535';
  for (const url of [
    'http://host:99999',
    'https://host:abc',
    'http://ho st',
    'http://',
    'http://256.1.1.1',
    'HTTP://[::1',
  ])
    assert.deepEqual(mistakesOf({ BROKER_URL: url }), [`BROKER_URL ${INVALID}`], url);
  for (const url of ['host:1026', '//host', 'ftp://host', 'EMBEDDED'])
    assert.deepEqual(mistakesOf({ BROKER_URL: url }), [
      'BROKER_URL must be a URL that begins with http:// or https://',
    ]);
  assert.deepEqual(mistakesOf({ PUBLIC_URL: 'https://gateway.example:99999' }), [`PUBLIC_URL ${INVALID}`]);
});

it('loadConfig accepts a PostgreSQL URL unchanged', () => {
  for (const url of words(`
    postgres://localhost postgresql://u:p@[::1]:5432/db?connect_timeout=10&application_name=gw
    postgres:///db?host=/var/run/postgresql postgres://u:a,b@h/db postgres://u:a,@b@h/db
    postgres://u@h/db?sslmode=verify-ca&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem
    postgres://u@h/db?options=-c%20search_path%3Dgateway
  `))
    assert.equal(loadConfig({ DATABASE_URL: url }).DATABASE_URL, url);
});

it('loadConfig refuses parameters of DATABASE_URL that would be ignored silently, and accepts the others', () => {
  const known = words(`
      sslmode sslrootcert sslcert sslkey host port application_name options
    `);
  for (const name of [...known, 'connect_timeout']) {
    const value = { sslmode: 'require', connect_timeout: '9999' }[name] ?? 'x';
    const url = `postgres://u@h/db?${name}=${value}`;
    assert.equal(loadConfig({ DATABASE_URL: url }).DATABASE_URL, url, name);
  }
  for (const name of ['ssl', 'user', 'password', 'sslpassword', 'dbname', 'SSLMODE', 'keepalives', ''])
    assert.equal(mistakesOf({ DATABASE_URL: `postgres://u@h/db?${name}=x` }).length, 1, name);
  for (const timeout of ['10000', '-1', '1.5'])
    assert.equal(mistakesOf({ DATABASE_URL: `postgres://u@h/db?connect_timeout=${timeout}` }).length, 1);
  for (const mode of ['disable', 'require', 'verify-full'])
    assert.ok(loadConfig({ DATABASE_URL: `postgres://u@h/db?sslmode=${mode}` }));
  for (const mode of ['allow', 'prefer', 'no-verify', '', 'Require'])
    assert.equal(mistakesOf({ DATABASE_URL: `postgres://u@h/db?sslmode=${mode}` }).length, 1, mode);
});

it('loadConfig reports a mistake in DATABASE_URL without repeating any part of the URL', () => {
  for (const [url, says] of [
    ['hunter2', /must be a URL such as postgres:/],
    ['mysql://u:hunter2@h/db', /must be a URL such as postgres:/],
    ['postgres://u:hunter2@h/db#x', /must be a URL such as postgres:/],
    ['postgres://u:hunter2@/db', /must/],
    ['postgres:///db', /must name a host/],
    ['postgres://u:hunter2@one,two/db', /must name one host, not a list/],
    ['postgres://u:hunter2@one:5432,two:5432/db', /must name one host, not a list/],
    ['postgres://u:hunter2@h/db?host=one,two', /must name one host, not a list/],
    ['postgres://u:hunter2@h/db?host=one&port=5432,5433', /must name one host, not a list/],
    ['postgres://u:hunter2@h/db?sslmod=require', /must have no parameters other than sslmode, /],
    ['postgres://u:pass?hunter2=@h/db', /must/],
    ['postgres://u:hunter2@h/db?sslmode=disable&sslmode=require', /each at most once/],
    ['postgres://u:hunter2@h/db?sslmode=prefer', /must have one of disable, require, verify-ca, verify-full/],
    ['postgres://u:hunter2@h/db?sslmode=verify-ca', /must have the CA certificate/],
    ['postgres://u:hunter2@h/db?connect_timeout=soon', /must have a whole number of seconds/],
  ] as const) {
    const [mistake = '', ...others] = mistakesOf({ DATABASE_URL: url });
    assert.deepEqual(others, []);
    assert.match(mistake, /^DATABASE_URL must /);
    assert.match(mistake, says, url);
    assert.doesNotMatch(mistake, /hunter2/);
  }
});

it('loadConfig reports all mistakes at once', () => {
  const env = { PORT: 'x', PURGE_CONCURRENCY: '0', PURGE_PAGE: '5', LOG_LEVEL: 'loud', HOST: '0.0.0.0' };
  const names = mistakesOf(env).map((mistake) => mistake.split(' ', 1)[0]);
  assert.deepEqual(names.sort(), [
    'BROKER_URL',
    'GATEWAY_TOKEN',
    'LOG_LEVEL',
    'PORT',
    'PURGE_CONCURRENCY',
    'PURGE_PAGE',
  ]);
  assert.throws(() => loadConfig(env), { message: 'The configuration has 6 mistakes.' });
  assert.throws(() => loadConfig({ PORT: 'x' }), { message: 'The configuration has a mistake.' });
});

it('loadConfig reports unknown names under guarded prefixes, with the setting that was probably meant', () => {
  for (const [name, meant] of [
    ['PURGE_PAGESIZE', 'PURGE_PAGE_SIZE'],
    ['PURGE_MAX_AFECTED', 'PURGE_MAX_AFFECTED'],
    ['RETRY_MAX_DELAY', 'RETRY_MAX_DELAY_MS'],
    ['RETRY_MAX_ATTEMPT', 'RETRY_MAX_ATTEMPTS'],
    ['BROKER_URI', 'BROKER_URL'],
    ['TEMPORAL_WHOLE_DELET', 'TEMPORAL_WHOLE_DELETE'],
  ] as const) {
    assert.deepEqual(mistakesOf({ [name]: '1' }), [`${name} is not a setting; did you mean ${meant}?`]);
  }
  assert.deepEqual(mistakesOf({ PURGE_EVERYTHING_NOW: '1' }), ['PURGE_EVERYTHING_NOW is not a setting']);
  assert.deepEqual(mistakesOf({ RETRY_: '', BROKER_constructor: '1' }).length, 2);
});

it('loadConfig never reports names of other programs', () => {
  assert.deepEqual(
    mistakesOf({ PATH: '/bin', NODE_ENV: 'test', PURGED: '1', MY_PURGE_X: '1', constructor: 'x' }),
    [],
  );
});

it('loadConfig accepts two tokens during a replacement, each as long as a single token has to be', () => {
  assert.deepEqual(loadConfig({ GATEWAY_TOKEN: 'the-new-one,the-old-one' }).GATEWAY_TOKEN, [
    'the-new-one',
    'the-old-one',
  ]);
  for (const GATEWAY_TOKEN of [
    ...words('the-new-one, ,the-old-one the-new-one,short'),
    'the-new-one, the-old-one',
  ])
    assert.match(mistakesOf({ GATEWAY_TOKEN })[0] ?? '', /^GATEWAY_TOKEN must be 8 to 1024/, GATEWAY_TOKEN);
  assert.deepEqual(mistakesOf({ GATEWAY_TOKEN: 'the-new-one,the-old-one,the-oldest' }), [
    'GATEWAY_TOKEN must be one secret, or two separated by a comma',
  ]);
});

it('loadConfig never shows a value that could be a secret', () => {
  const secret = 'hunter2 hunter2';
  const env = {
    GATEWAY_TOKEN: secret,
    BROKER_URL: `http://admin:${encodeURIComponent(secret)}@orion`,
    PUBLIC_URL: secret,
    PURGE_TOKEN: secret,
  };
  const text = mistakesOf(env).join('\n');
  assert.equal(mistakesOf(env).length, 4);
  assert.doesNotMatch(text, /hunter2|admin/);
});

it('loadConfig throws only ConfigError, whatever the environment contains', () => {
  const names = fc.oneof(
    fc.constantFrom(...Object.keys(settings), 'NODE_ENV', '__proto__', 'PURGE_X'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.dictionary(names, fc.string()), (env) => {
      for (const mistake of mistakesOf(env)) assert.equal(typeof mistake, 'string');
    }),
  );
});

it('loadConfig starts the embedded broker on loopback addresses only', () => {
  for (const HOST of ['127.0.0.1', '127.8.9.1', 'localhost', '::1']) {
    assert.equal(loadConfig({ HOST }).BROKER_URL, 'embedded', HOST);
  }
  for (const HOST of words(`
      0.0.0.0 :: 192.168.0.7 gateway.city.test 127.0.0.1.evil.test 1270.0.0.1
    `)) {
    const mistakes = mistakesOf({ HOST, GATEWAY_OPEN: 'true' });
    assert.equal(mistakes.length, 1, HOST);
    assert.match(mistakes[0] ?? '', NEEDS_BROKER);
    assert.deepEqual(mistakesOf({ HOST, GATEWAY_OPEN: 'true', BROKER_URL: 'http://orion:1026' }), []);
  }
});

it('loadConfig accepts an IPv6 address in brackets as HOST', () => {
  assert.equal(loadConfig({ HOST: '[::1]' }).HOST, '::1');
  assert.equal(loadConfig({ HOST: '[::]', BROKER_URL: 'http://orion', GATEWAY_OPEN: 'true' }).HOST, '::');
  assert.equal(
    loadConfig({ HOST: 'fe80::1%eth0', BROKER_URL: 'http://orion', GATEWAY_OPEN: 'true' }).HOST,
    'fe80::1%eth0',
  );
});

it('loadConfig never falls back to the embedded broker in production', () => {
  assert.match(mistakesOf({ NODE_ENV: 'production' })[0] ?? '', NEEDS_BROKER);
  assert.match(mistakesOf({ NODE_ENV: 'production', BROKER_URL: '' })[0] ?? '', NEEDS_BROKER);
  assert.deepEqual(mistakesOf({ NODE_ENV: 'production', BROKER_URL: 'https://orion' }), []);
});

it('loadConfig accepts `embedded` on any address if it is set explicitly', () => {
  const env = {
    NODE_ENV: 'production',
    HOST: '0.0.0.0',
    BROKER_URL: 'embedded',
    GATEWAY_OPEN: 'true',
  };
  assert.equal(loadConfig(env).BROKER_URL, 'embedded');
});

it('loadConfig takes only addresses that no other machine can reach for loopback', () => {
  assert.equal(isLoopback('127.0.0.2'), true);
  assert.equal(isLoopback('LocalHost'), true);
  for (const host of ['128.0.0.1', '127.evil.test', '127.1', '', '0.0.0.0', '::'])
    assert.equal(isLoopback(host), false);
});

const BROKER_URL = 'http://orion:1026';

it('loadConfig requires GATEWAY_TOKEN or GATEWAY_OPEN if other machines can reach the gateway', () => {
  for (const HOST of ['0.0.0.0', '::', '192.168.0.7', 'gateway.city.test']) {
    for (const GATEWAY_TOKEN of [undefined, '']) {
      const mistakes = mistakesOf({ HOST, BROKER_URL, GATEWAY_TOKEN });
      assert.match(mistakes[0] ?? '', /^GATEWAY_TOKEN is needed when HOST is not loopback/);
    }
    assert.deepEqual(mistakesOf({ HOST, BROKER_URL, GATEWAY_TOKEN: 's3cret-token' }), []);
    assert.deepEqual(mistakesOf({ HOST, BROKER_URL, GATEWAY_OPEN: 'true' }), []);
    assert.equal(mistakesOf({ HOST, BROKER_URL, GATEWAY_OPEN: 'false' }).length, 1);
    assert.equal(mistakesOf({ HOST, BROKER_URL, GATEWAY_TOKEN: 'short' }).length, 1, 'not also as missing');
  }
});

it('loadConfig requires AUTH_AUDIENCE with AUTH_ISSUER, and with both no GATEWAY_TOKEN', () => {
  const issuer = { HOST: '0.0.0.0', BROKER_URL, AUTH_ISSUER: 'https://id.city.example' };
  assert.match(mistakesOf(issuer)[0] ?? '', /^AUTH_AUDIENCE is needed/);
  assert.deepEqual(mistakesOf({ ...issuer, AUTH_AUDIENCE: 'gateway' }), []);
});

it('loadConfig refuses settings of sign-in and of archives that would have no effect', () => {
  const signIn = {
    AUTH_JWKS_URL: 'https://id.city.example/keys',
    AUTH_AUDIENCE: 'gateway',
    AUTH_ROLES_CLAIM: 'groups',
    AUTH_TENANTS_CLAIM: 'tenants',
    AUTH_ROLE_MAP: 'a=admin',
    AUTH_FORWARD: 'true',
    AUTH_CLIENT_ID: 'console',
  };
  const secrets = {
    ARCHIVE_SECRET: 'a secret of sixteen',
    ARCHIVE_SECRET_BEFORE: 'the secret before',
  };
  assert.deepEqual(mistakesOf({ ...signIn, ...secrets }), [
    ...Object.keys(signIn).map((name) => `${name} has no effect without AUTH_ISSUER`),
    ...Object.keys(secrets).map((name) => `${name} has no effect without ARCHIVE_URL`),
  ]);
  const issuer = { AUTH_ISSUER: 'https://id.city.example' };
  assert.deepEqual(mistakesOf({ ...issuer, ...signIn, ...secrets, ARCHIVE_URL: 'file:///archives' }), []);
  // As a compose file passes on unset variables.
  assert.deepEqual(mistakesOf({ AUTH_FORWARD: 'false', AUTH_ROLES_CLAIM: 'roles', ARCHIVE_SECRET: '' }), []);
});

it('loadConfig accepts https for issuer and keys, and http for loopback only', () => {
  const issuerOf = (AUTH_ISSUER: string) => mistakesOf({ AUTH_ISSUER, AUTH_AUDIENCE: 'gateway' });
  for (const good of words(`
    https://id.city.example https://id.city.example/realms/city/ http://localhost:8081/realms/city
    http://127.0.0.1:1 http://[::1]:1
  `)) {
    assert.deepEqual(issuerOf(good), [], good);
    // Tokens contain the issuer character by character.
    assert.equal(loadConfig({ AUTH_ISSUER: good, AUTH_AUDIENCE: 'gateway' }).AUTH_ISSUER, good);
  }
  for (const bad of words(`
    http://id.city.example http://keycloak:8080 id.city.example ftp://id.city.example http://127.0.0.1.x
    https://user:word@id.city.example https://id.city.example?x https://id.city.example#x
  `))
    assert.match(issuerOf(bad)[0] ?? '', /^AUTH_ISSUER must/, bad);
  const env = { AUTH_ISSUER: 'https://id.city.example', AUTH_AUDIENCE: 'gateway' };
  const keysOf = (AUTH_JWKS_URL: string) => mistakesOf({ ...env, AUTH_JWKS_URL });
  for (const good of ['https://keys.example/keys?p=1', 'http://localhost:1/keys'])
    assert.deepEqual(keysOf(good), []);
  for (const bad of words('http://keys.example/keys keys https://u:p@keys.example https://keys.example#x'))
    assert.match(keysOf(bad)[0] ?? '', /^AUTH_JWKS_URL must/, bad);
});

it('loadConfig reads a role map, and refuses unknown roles', () => {
  const env = { AUTH_ISSUER: 'https://id.city.example', AUTH_AUDIENCE: 'gateway' };
  const mapOf = (AUTH_ROLE_MAP: string) => loadConfig({ ...env, AUTH_ROLE_MAP }).AUTH_ROLE_MAP;
  assert.deepEqual(
    [...(mapOf('city-admins=admin, /interns = viewer ,a=b=purger,purger=') ?? [])],
    [
      ['city-admins', 'admin'],
      ['/interns', 'viewer'],
      ['a=b', 'purger'],
      ['purger', undefined],
    ],
  );
  for (const bad of ['admin', '=admin', 'a=boss', 'a=Admin', 'a=admin,', 'a=admin,a=viewer', 'a=constructor'])
    assert.match(mistakesOf({ ...env, AUTH_ROLE_MAP: bad })[0] ?? '', /^AUTH_ROLE_MAP must/, bad);
});

it('loadConfig accepts addresses and networks as trusted proxies, but not all addresses', () => {
  const listed = loadConfig({ TRUSTED_PROXIES: '10.0.0.5, 10.1.0.0/16,fd00::/8 , ::1' }).TRUSTED_PROXIES;
  assert.deepEqual(listed, ['10.0.0.5', '10.1.0.0/16', 'fd00::/8', '::1']);
  for (const bad of words(
    'proxy 10.0.0 10.0.0.0/0 0.0.0.0/0 ::/0 10.0.0.0/33 fd00::/129 10.0.0.0/8/8 10.0.0.0/ loopback ,',
  ))
    assert.match(mistakesOf({ TRUSTED_PROXIES: bad })[0] ?? '', /^TRUSTED_PROXIES must/, bad);
});

it('loadConfig reads host names without regard to case and blanks', () => {
  assert.deepEqual(loadConfig({ ALLOWED_HOSTS: 'Gateway.City.test, gw ,[::1]' }).ALLOWED_HOSTS, [
    'gateway.city.test',
    'gw',
    '[::1]',
  ]);
});

const isLoop = (env: Env) => mistakesOf(env).some((mistake) => mistake.includes('gateway itself'));

it('loadConfig refuses the gateway as its own broker, under any name of its address', () => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    assert.equal(isLoop({ PORT: '8080', BROKER_URL: `http://${host}:8080` }), true);
  }
  for (const HOST of ['127.0.0.1', '127.0.0.9', 'localhost', '::1', '0.0.0.0', '::']) {
    for (const host of ['127.0.0.1', '127.0.0.9', 'localhost', '[::1]']) {
      assert.equal(
        isLoop({ HOST, PORT: '1026', BROKER_URL: `http://${host}:1026` }),
        true,
        `${HOST} ${host}`,
      );
      assert.equal(isLoop({ HOST, PORT: '1027', BROKER_URL: `http://${host}:1026` }), false);
      assert.equal(isLoop({ HOST, PORT: '80', BROKER_URL: `http://${host}` }), true);
      assert.equal(isLoop({ HOST, PORT: '443', BROKER_URL: `https://${host}` }), true);
      assert.equal(isLoop({ HOST, PORT: '80', BROKER_URL: `https://${host}` }), false);
      assert.equal(isLoop({ HOST, PORT: '443', BROKER_URL: `http://${host}` }), false);
    }
  }
  for (const [HOST, host] of [
    ['gateway.city.test', 'gateway.city.test'],
    ['192.168.0.7', '192.168.0.7'],
    ['fd00::7', '[fd00::7]'],
  ] as const) {
    assert.equal(isLoop({ HOST, PORT: '8080', BROKER_URL: `http://${host}:8080` }), true);
    assert.equal(isLoop({ HOST, PORT: '8080', BROKER_URL: 'http://127.0.0.1:8080' }), false);
  }
});

it('loadConfig accepts a broker on another port or host than the gateway', () => {
  assert.equal(isLoop({ PORT: '8080', BROKER_URL: 'http://127.0.0.1:1026' }), false);
  assert.equal(isLoop({ PORT: '8080', BROKER_URL: 'http://orion:8080' }), false);
  assert.equal(isLoop({ PORT: '0', BROKER_URL: 'http://127.0.0.1:8080' }), false);
});
