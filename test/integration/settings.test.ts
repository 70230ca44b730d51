import assert from 'node:assert/strict';
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { ConfigError } from '../../sidecar/shared/config/load.js';
import type { SettingName } from '../../sidecar/shared/config/settings.js';
import { ensureCliBuilt } from '../support/cli-process.js';
import {
  send,
  startTestBroker,
  startTestGateway,
  stopAll,
  stopLater,
  type TestGateway,
} from '../support/gateway-harness.js';
import { tarGz } from '../support/archives.js';
import { createDatabase } from '../support/postgres.js';
import { createTestClock } from '../support/purge-harness.js';
import { AUDIENCE, OpenIdProvider } from '../support/openid-provider.js';
import { BUCKET_KEYS, StubBucket } from '../support/stub-bucket.js';
import {
  holdBack,
  isDelete,
  type RecordedAnswer,
  type RecordedRequest,
  relayTo,
  startRecordingBroker,
} from '../support/recording-broker.js';
import { hour, TEMPORAL } from '../support/temporal-harness.js';
import { makeModel, startApi } from './api-client.js';
import { freePort } from '../support/free-port.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilTrue } from '../support/waiting.js';

after(stopAll);

/**
 * Far longer than a test waits, so that a duration read in a wrong unit, a thousand times too long,
 * does not pass.
 */
const PATIENCE = { timeout: 300_000 };

const entity = (type: string) => (index: number) => ({
  id: `urn:ngsi-ld:${type}:${index}`,
  type,
  speed: { type: 'Property', value: index, observedAt: hour(1) },
});

/**
 * Starts a gateway in front of a broker with twenty cars, current and temporal, and records the
 * requests to the broker.
 */
async function withCars(env: Readonly<Record<string, string>>) {
  const broker = await startTestBroker();
  broker.entities.seed(20, entity('Car'));
  broker.temporal.seed(20, entity('Car'));
  const recorder = await startRecordingBroker(relayTo(broker));
  const gateway = await startTestGateway({ BROKER_URL: recorder.url, ...env });
  return { broker, gateway, requests: recorder.requests };
}

const ASYNC = { prefer: 'respond-async' };

/** Starts the same, but no delete is answered until the gate opens. */
async function withHeldCars(env: Readonly<Record<string, string>>) {
  const broker = await startTestBroker();
  broker.entities.seed(20, entity('Car'));
  const { held } = await holdBack(broker);
  const gateway = await startTestGateway({ BROKER_URL: held.url, ...env });
  return { gateway };
}

/**
 * Returns the pauses of a gateway whose broker always fails, with jitter at one end of its range.
 */
async function sleepsOf(env: Readonly<Record<string, string>>, random: number): Promise<readonly number[]> {
  const broker = await startRecordingBroker(() => ({ status: 503 }));
  const clock = createTestClock();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, ...env }, { clock, random: () => random });
  assert.equal((await gateway.purge('type=Car')).status, 502);
  return [...clock.sleeps];
}

/** Returns the peak number of deletes in flight if none is answered until no more arrive. */
async function peakOf(
  env: Readonly<Record<string, string>>,
  path: string,
  expected: number,
): Promise<number> {
  const broker = await startTestBroker();
  broker.entities.seed(20, entity('Car'));
  broker.temporal.seed(20, entity('Car'));
  const { held, gate, peak } = await holdBack(broker);
  const gateway = await startTestGateway({ BROKER_URL: held.url, ...env });
  const purged = gateway.send('DELETE', `${path}?type=Car`);
  await held.arrived(isDelete, expected);
  for (let turn = 0; turn < 3; turn += 1) await gateway.send('GET', '/health/ready');
  gate.open();
  assert.equal((await purged).status, 204);
  return peak();
}

/**
 * Starts a gateway with sign-in and cars, and returns what a token with given claims may do there.
 */
async function withSignIn(env: Readonly<Record<string, string>>) {
  const provider = await OpenIdProvider.start({});
  const cars = await withCars({ AUTH_ISSUER: provider.issuer, AUTH_AUDIENCE: AUDIENCE, ...env });
  const statusOf = async (
    claims: Parameters<OpenIdProvider['sign']>[0],
    signer = provider,
    path = '/api/v2/purges',
  ) => {
    const headers = { authorization: `Bearer ${await signer.sign(claims)}` };
    return (await cars.gateway.send('GET', path, { headers })).status;
  };
  return { ...cars, provider, statusOf };
}

const limitsOf = (requests: readonly RecordedRequest[]) =>
  requests
    .filter(({ method }) => method === 'GET')
    .map(({ url }) => Number(new URL(url, 'http://b').searchParams.get('limit')));

const isBatch = ({ url }: RecordedRequest) => url.startsWith('/ngsi-ld/v1/entityOperations/delete');

/** Returns the statuses of a purge without a token, with a wrong one and with the right one. */
async function statusesWith(gateway: TestGateway, token: string): Promise<readonly number[]> {
  const sent: Readonly<Record<string, string>>[] = [
    {},
    { 'x-gateway-token': 'another-token' },
    { 'x-gateway-token': token },
  ];
  const statuses: number[] = [];
  for (const headers of sent) statuses.push((await gateway.purge('type=Car&dryRun=true', headers)).status);
  return statuses;
}

/** Returns the status of a purge sent with the given Host. */
async function statusBy(gateway: TestGateway, host: string): Promise<number> {
  const sent = request(`${gateway.url}/ngsi-ld/v1/entities?type=Car`, {
    method: 'DELETE',
    headers: { host },
  });
  const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

interface ArchivedRecord {
  readonly id: string;
  readonly archive?: { readonly entities: number; readonly expiresAt: string };
}

/** Returns the record of a purge, after waiting for its end. */
async function purgedBy(gateway: TestGateway, query: string): Promise<ArchivedRecord> {
  const id = (await gateway.purge(query)).headers.get('purge-id') ?? '';
  return (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as ArchivedRecord;
}

/** Returns how many entities a purge archives. */
async function archivedOf(
  env: Readonly<Record<string, string>>,
  query = 'type=Car&archive=required',
): Promise<number | undefined> {
  const { gateway } = await withCars(env);
  return (await purgedBy(gateway, query)).archive?.entities;
}

const SECRET = 'a secret of sixteen or more';

/** Whether a gateway with these settings can read the archives of a gateway with a secret. */
async function isReadableAfter(env: Readonly<Record<string, string>>): Promise<boolean> {
  const folder = temporaryFolder();
  const kept = { ARCHIVE_URL: pathToFileURL(folder).href, DATABASE_PATH: join(folder, 'schema.db') };
  const first = await withCars({ ...kept, ARCHIVE_SECRET: SECRET });
  const { id } = await purgedBy(first.gateway, 'type=Car&archive=required');
  const [segment = ''] = (await readdir(join(folder, id))).filter((name) => name.endsWith('.gz'));
  assert.equal((await readFile(join(folder, id, segment))).toString('latin1', 0, 8), 'NGLDARC1');
  await first.gateway.gateway.close();
  const { gateway } = await withCars({ ...kept, ...env });
  const { status } = await gateway.send('GET', `/api/v2/purges/${id}/archive`);
  assert.ok(status === 200 || status === 409);
  return status === 200;
}

async function startedOn(bucket: StubBucket, env: Readonly<Record<string, string>>): Promise<unknown> {
  return withCars({
    ARCHIVE_URL: 's3://archive/purges',
    AWS_ENDPOINT_URL: bucket.endpoint.href,
    AWS_REGION: BUCKET_KEYS.region,
    AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey,
    ...env,
  });
}

async function openBucket(): Promise<StubBucket> {
  const bucket = await StubBucket.open();
  stopLater(() => bucket.close());
  return bucket;
}

async function refusedByBucket(env: Readonly<Record<string, string>>): Promise<void> {
  await takenByBucket({});
  await assert.rejects(startedOn(await openBucket(), env), ConfigError);
}

async function takenByBucket(env: Readonly<Record<string, string>>): Promise<StubBucket> {
  const bucket = await openBucket();
  await startedOn(bucket, env);
  return bucket;
}

/**
 * The effect of each setting, observed from outside. A setting without an entry is a compile error.
 */
const EFFECTS: Readonly<Record<SettingName, readonly [effect: string, check: () => Promise<void>]>> = {
  HOST: [
    'is the address that the gateway listens on',
    async () => {
      const broker = await startTestBroker();
      for (const host of ['127.0.0.1', '0.0.0.0']) {
        const env = { BROKER_URL: broker.url, HOST: host, GATEWAY_TOKEN: 'token-of-settings' };
        assert.equal(new URL((await startTestGateway(env)).url).hostname, host);
      }
    },
  ],
  PORT: [
    'is the port that the gateway listens on',
    async () => {
      const port = await freePort();
      const { gateway } = await withCars({ PORT: String(port) });
      assert.equal(gateway.port, port);
    },
  ],
  REUSE_PORT: [
    'lets several gateways share a port',
    async () => {
      const database = await createDatabase();
      stopLater(() => database.drop());
      const recorder = await startRecordingBroker();
      const env = { BROKER_URL: recorder.url, DATABASE_URL: database.url, METRICS_PORT: '0' };
      const shared = { ...env, REUSE_PORT: 'true' };
      const { url, port } = await startTestGateway({ ...shared, INSTANCE_NAME: 'one' });
      await startTestGateway({ ...shared, INSTANCE_NAME: 'two', PORT: String(port) });
      // The operating system chooses which process accepts a connection. Each gateway has its own
      // name in Via.
      const names = () => new Set(recorder.requests.map(({ headers }) => headers['via']));
      for (let asked = 0; names().size < 2 && asked < 500; asked += 1)
        await send(url, 'GET', '/ngsi-ld/v1/types', { headers: { connection: 'close' } });
      assert.equal(names().size, 2);
      await assert.rejects(startTestGateway({ ...env, PORT: String(port) }), { code: 'EADDRINUSE' });
    },
  ],
  BROKER_URL: [
    'receives purges and forwarded requests, below its path',
    async () => {
      const recorder = await startRecordingBroker();
      const gateway = await startTestGateway({ BROKER_URL: `${recorder.url}/a/b` });
      await gateway.purge('type=Car&dryRun=true');
      await gateway.send('GET', '/ngsi-ld/v1/types');
      assert.ok(recorder.requests.length >= 2);
      for (const { url } of recorder.requests) assert.ok(url.startsWith('/a/b/ngsi-ld/v1/'), url);
    },
  ],
  METRICS_PORT: [
    'moves the metrics to a separate port',
    async () => {
      const { gateway } = await withCars({ METRICS_PORT: '0' });
      const { metricsUrl } = gateway.gateway;
      assert.notEqual(new URL(metricsUrl).port, String(gateway.port));
      assert.equal((await send(metricsUrl, 'GET', '')).status, 200);
      assert.equal((await gateway.send('GET', '/metrics')).status, 404);
    },
  ],
  CONSOLE: [
    'switches the console on and off',
    async () => {
      await ensureCliBuilt();
      for (const [value, status] of [
        ['on', 200],
        ['off', 404],
      ] as const) {
        const { gateway } = await withCars({ CONSOLE: value });
        assert.equal((await gateway.send('GET', '/console/')).status, status);
      }
    },
  ],
  PUBLIC_URL: [
    'is the beginning of links, and its host is an accepted Host',
    async () => {
      const { api } = await startApi({ PUBLIC_URL: 'https://data.city.test/base' });
      const { headers } = await api.post('/domains', { name: 'City' });
      assert.equal(headers.get('location'), 'https://data.city.test/base/api/v2/domains/City');
      const { gateway } = await withCars({ PUBLIC_URL: 'https://data.city.test:8443/base' });
      assert.equal(await statusBy(gateway, 'data.city.test:8443'), 204);
      assert.equal(await statusBy(gateway, 'elsewhere.test'), 403);
    },
  ],
  GATEWAY_TOKEN: [
    'is required for purges',
    async () => {
      const { gateway } = await withCars({ GATEWAY_TOKEN: 'token-of-settings' });
      assert.deepEqual(await statusesWith(gateway, 'token-of-settings'), [401, 401, 200]);
    },
  ],
  GATEWAY_OPEN: [
    'accepts requests with any Host',
    async () => {
      const broker = await startTestBroker();
      for (const [open, status] of [
        ['false', 403],
        ['true', 204],
      ] as const) {
        const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_OPEN: open });
        assert.equal(await statusBy(gateway, 'elsewhere.test'), status);
      }
    },
  ],
  ALLOWED_HOSTS: [
    'are accepted as Host',
    async () => {
      const { gateway } = await withCars({ ALLOWED_HOSTS: 'gw.city.test' });
      assert.equal(await statusBy(gateway, 'gw.city.test:80'), 204);
      assert.equal(await statusBy(gateway, 'elsewhere.test'), 403);
    },
  ],
  AUTH_ISSUER: [
    'is the only issuer whose tokens are accepted',
    async () => {
      const { provider, statusOf } = await withSignIn({});
      const roles = ['viewer'];
      assert.equal(await statusOf({ roles }), 200);
      assert.equal(await statusOf({ roles, iss: `${provider.issuer}/other` }), 401);
    },
  ],
  AUTH_JWKS_URL: [
    'gives the keys, so that no discovery is needed',
    async () => {
      const other = await OpenIdProvider.start({});
      const { provider, statusOf } = await withSignIn({ AUTH_JWKS_URL: `${other.issuer}/jwks` });
      const roles = ['viewer'];
      assert.equal(await statusOf({ roles, iss: provider.issuer }, other), 200);
      assert.equal(await statusOf({ roles }), 401);
      assert.deepEqual(provider.requests, []);
    },
  ],
  AUTH_AUDIENCE: [
    'must be in the audience of tokens',
    async () => {
      const { statusOf } = await withSignIn({ AUTH_AUDIENCE: 'city' });
      assert.equal(await statusOf({ roles: ['viewer'], aud: ['x', 'city'] }), 200);
      assert.equal(await statusOf({ roles: ['viewer'], aud: 'town' }), 401);
    },
  ],
  AUTH_ROLES_CLAIM: [
    'names the claim with the roles',
    async () => {
      const { statusOf } = await withSignIn({ AUTH_ROLES_CLAIM: 'a.b' });
      assert.equal(await statusOf({ a: { b: ['viewer'] } }), 200);
      assert.equal(await statusOf({ roles: ['viewer'] }), 403);
    },
  ],
  AUTH_TENANTS_CLAIM: [
    'names the claim with the tenants',
    async () => {
      const { statusOf } = await withSignIn({ AUTH_TENANTS_CLAIM: 'cities' });
      const path = '/api/v2/purges?tenant=a';
      assert.equal(await statusOf({ roles: ['viewer'], cities: ['a'] }, undefined, path), 200);
      assert.equal(await statusOf({ roles: ['viewer'], cities: ['b'] }, undefined, path), 403);
    },
  ],
  AUTH_ROLE_MAP: [
    'maps values of the claim to roles',
    async () => {
      const { statusOf } = await withSignIn({ AUTH_ROLE_MAP: 'city-admins=admin' });
      assert.equal(await statusOf({ roles: ['city-admins'] }), 200);
      assert.equal(await statusOf({ roles: ['town-admins'] }), 403);
    },
  ],
  AUTH_FORWARD: [
    'forwards tokens to the broker',
    async () => {
      for (const forward of ['true', 'false']) {
        const { provider, gateway, requests } = await withSignIn({ AUTH_FORWARD: forward });
        const authorization = `Bearer ${await provider.sign({ roles: ['purger'] })}`;
        assert.equal((await gateway.purge('type=Car', { authorization })).status, 204);
        const sent = requests.map(({ headers }) => headers['authorization']);
        assert.deepEqual([...new Set(sent)], [forward === 'true' ? authorization : undefined]);
      }
    },
  ],
  AUTH_CLIENT_ID: [
    'gives the console its client id for sign-in',
    async () => {
      const { gateway, provider } = await withSignIn({ AUTH_CLIENT_ID: 'console' });
      const status = (await gateway.send('GET', '/api/v2/status')).json() as { readonly signIn?: object };
      assert.deepEqual(status.signIn, { issuer: provider.issuer, clientId: 'console', audience: AUDIENCE });
    },
  ],
  TRUSTED_PROXIES: [
    'are the only proxies whose X-Forwarded-For is used',
    async () => {
      const { gateway } = await withCars({ TRUSTED_PROXIES: '127.0.0.1' });
      const headers = { 'x-forwarded-for': '203.0.113.9' };
      const id = (await gateway.purge('type=Car', headers)).headers.get('purge-id') ?? '';
      const record = (await gateway.send('GET', `/api/v2/purges/${id}`)).json();
      assert.equal((record as { readonly clientAddress?: string }).clientAddress, '203.0.113.9');
    },
  ],
  DATABASE_URL: [
    'stores everything in that PostgreSQL, and overrides DATABASE_PATH',
    async () => {
      const database = await createDatabase();
      stopLater(() => database.drop());
      const folder = temporaryFolder();
      const env = { DATABASE_URL: database.url, DATABASE_PATH: join(folder, 'schema.db') };
      const { api } = await startApi(env);
      await api.post('/domains', { name: 'City' });
      assert.deepEqual(await database.query('SELECT name FROM domain'), [{ name: 'City' }]);
      assert.equal(existsSync(env.DATABASE_PATH), false);
    },
  ],
  DATABASE_PATH: [
    'is the file of the store',
    async () => {
      const folder = temporaryFolder();
      const path = join(folder, 'deeper', 'schema.db');
      const { api, gateway } = await startApi({ DATABASE_PATH: path });
      await api.post('/domains', { name: 'City' });
      assert.ok(existsSync(path));
      await gateway.close();
      const again = await startApi({ DATABASE_PATH: path });
      assert.equal((await again.api.get('/domains/City')).status, 200);
    },
  ],
  PURGE_PAGE_SIZE: [
    'is the requested size of pages',
    async () => {
      const { gateway, requests } = await withCars({ PURGE_PAGE_SIZE: '7' });
      await gateway.purge('type=Car');
      assert.equal(Math.max(...limitsOf(requests)), 7);
    },
  ],
  PURGE_BATCH_SIZE: [
    'is the maximum number of ids in a batch',
    async () => {
      const { gateway, requests } = await withCars({ PURGE_BATCH_SIZE: '6' });
      await gateway.purge('type=Car');
      const sizes = requests.filter(isBatch).map(({ body }) => (JSON.parse(body) as unknown[]).length);
      assert.equal(Math.max(...sizes), 6);
    },
  ],
  PURGE_CONCURRENCY: [
    'is the maximum number of entity deletes in flight',
    async () => {
      const env = { PURGE_CONCURRENCY: '3', TEMPORAL_PURGE_CONCURRENCY: '5', PURGE_STRATEGY: 'single' };
      assert.equal(await peakOf(env, '/ngsi-ld/v1/entities', 3), 3);
    },
  ],
  TEMPORAL_PURGE_CONCURRENCY: [
    'is the maximum number of temporal deletes in flight',
    async () => {
      const env = { PURGE_CONCURRENCY: '3', TEMPORAL_PURGE_CONCURRENCY: '5' };
      assert.equal(await peakOf(env, TEMPORAL, 5), 5);
    },
  ],
  TEMPORAL_WHOLE_DELETE: [
    'decides whether whole temporal entities may be deleted',
    async () => {
      for (const [choice, status] of [
        ['refuse', 403],
        ['allow', 204],
      ] as const) {
        const { gateway } = await withCars({ TEMPORAL_WHOLE_DELETE: choice });
        assert.equal((await gateway.send('DELETE', `${TEMPORAL}?type=Car`)).status, status);
      }
    },
  ],
  PURGE_STRATEGY: [
    'decides how entities are deleted',
    async () => {
      const sent = async (strategy: string) => {
        const { gateway, requests } = await withCars({ PURGE_STRATEGY: strategy });
        await gateway.purge('type=Car');
        const deletes = requests
          .filter(isDelete)
          .map(({ method, url }) => `${method} ${url.split(/[?%]/, 1)[0]}`);
        return [...new Set(deletes)];
      };
      const [batch, single] = ['POST /ngsi-ld/v1/entityOperations/delete', 'DELETE /ngsi-ld/v1/entities/urn'];
      assert.deepEqual(await sent('auto'), [batch]);
      assert.deepEqual(await sent('batch'), [batch]);
      assert.deepEqual(await sent('single'), [single]);
      assert.deepEqual(await sent('native'), ['DELETE /ngsi-ld/v1/entities']);
    },
  ],
  PURGE_MAX_AFFECTED: [
    'is the maximum number of matches of a purge, for entities and temporal entities',
    async () => {
      for (const [most, status] of [
        ['19', 409],
        ['20', 204],
        ['0', 204],
      ] as const) {
        const { gateway } = await withCars({ PURGE_MAX_AFFECTED: most });
        assert.equal((await gateway.purge('type=Car')).status, status);
        assert.equal((await gateway.send('DELETE', `${TEMPORAL}?type=Car`)).status, status);
      }
    },
  ],
  PURGE_MAX_RUNNING: [
    'is the maximum number of running purges, of entities and temporal entities together',
    async () => {
      const broker = await startTestBroker();
      broker.entities.seed(20, entity('Car'));
      const { held: recorder, gate } = await holdBack(broker);
      const gateway = await startTestGateway({ BROKER_URL: recorder.url, PURGE_MAX_RUNNING: '1' });
      const first = gateway.purge('type=Car');
      await recorder.arrived(isDelete);
      const second = await gateway.send('DELETE', `${TEMPORAL}?type=Car`);
      assert.deepEqual([second.status, second.headers.get('retry-after')], [503, '5']);
      assert.equal((await gateway.purge('type=Car&dryRun=true')).status, 200);
      gate.open();
      assert.equal((await first).status, 204);
      assert.equal((await gateway.purge('type=Car')).status, 204);
    },
  ],
  PURGE_WHOLE_TENANT: [
    'decides whether a purge may empty a tenant',
    async () => {
      for (const [choice, status] of [
        ['bounded', 400],
        ['refuse', 403],
        ['allow', 204],
      ] as const) {
        const { gateway } = await withCars({ PURGE_WHOLE_TENANT: choice });
        assert.equal((await gateway.purge('local=true')).status, status);
        assert.equal((await gateway.send('DELETE', `${TEMPORAL}?local=true`)).status, status);
      }
    },
  ],
  PURGE_MAX_QUEUED: [
    'is the maximum number of waiting jobs',
    async () => {
      const { gateway } = await withHeldCars({ PURGE_MAX_RUNNING: '1', PURGE_MAX_QUEUED: '2' });
      const statuses: number[] = [];
      for (let n = 0; n < 4; n += 1) statuses.push((await gateway.purge('type=Car', ASYNC)).status);
      assert.deepEqual(statuses, [202, 202, 202, 503]);
    },
  ],
  PURGE_RECORD: [
    'decides whether a purge may run without a record',
    async () => {
      for (const [record, status] of [
        ['best-effort', 204],
        ['required', 503],
      ] as const) {
        const path = join(temporaryFolder(), 'schema.db');
        const { gateway } = await withCars({ DATABASE_PATH: path, PURGE_RECORD: record });
        const lock = new Database(path);
        lock.exec('BEGIN IMMEDIATE');
        assert.equal((await gateway.purge('type=Car')).status, status);
        lock.exec('ROLLBACK');
        lock.close();
      }
    },
  ],
  PURGE_HISTORY_DAYS: [
    'is the number of days that records are kept',
    async () => {
      const path = join(temporaryFolder(), 'schema.db');
      const env = { DATABASE_PATH: path, PURGE_HISTORY_DAYS: '2' };
      const first = await withCars(env);
      await first.gateway.purge('type=Car');
      await first.gateway.gateway.close();
      const db = new Database(path);
      const age = db.prepare('UPDATE job SET created_at = created_at - @ms, ended_at = ended_at - @ms');
      age.run({ ms: 1.9 * 86_400_000 });
      const kept = await withCars(env);
      await kept.gateway.gateway.close();
      const count = db.prepare('SELECT count(*) FROM job').pluck();
      assert.equal(count.get(), 1);
      age.run({ ms: 0.2 * 86_400_000 });
      const { gateway } = await withCars(env);
      // The broker is first asked for the time.
      await untilTrue(async () => {
        await gateway.send('GET', '/api/v2/purges');
        return count.get() === 0;
      });
      db.close();
    },
  ],
  JOB_SECRET: [
    'allows a job with credentials',
    async () => {
      for (const [env, status] of [
        [{}, 400],
        [{ JOB_SECRET: 'a-secret-of-jobs' }, 202],
      ] as const) {
        const { gateway } = await withCars(env);
        const answer = await gateway.purge('type=Car', { ...ASYNC, authorization: 'Bearer x' });
        assert.equal(answer.status, status, answer.text);
      }
    },
  ],
  PURGE_ARCHIVE: [
    'makes every purge keep an archive',
    async () => {
      const ARCHIVE_URL = pathToFileURL(temporaryFolder()).href;
      assert.equal(await archivedOf({ ARCHIVE_URL, PURGE_ARCHIVE: 'required' }, 'type=Car'), 20);
    },
  ],
  ARCHIVE_URL: [
    'is the place of archives',
    async () => {
      const folder = temporaryFolder();
      assert.equal(await archivedOf({ ARCHIVE_URL: pathToFileURL(folder).href }), 20);
      assert.equal((await readdir(folder)).length, 1);
    },
  ],
  ARCHIVE_SECRET: [
    'encrypts archives, which only a gateway with the secret can read',
    async () => assert.ok(await isReadableAfter({ ARCHIVE_SECRET: SECRET })),
  ],
  ARCHIVE_SECRET_BEFORE: [
    'decrypts archives of a replaced secret',
    async () => {
      const other = { ARCHIVE_SECRET: 'another secret of sixteen' };
      assert.ok(!(await isReadableAfter(other)));
      assert.ok(await isReadableAfter({ ...other, ARCHIVE_SECRET_BEFORE: SECRET }));
    },
  ],
  ARCHIVE_DAYS: [
    'is the number of days that archives are kept',
    async () => {
      const ARCHIVE_URL = pathToFileURL(temporaryFolder()).href;
      const { gateway } = await withCars({ ARCHIVE_URL, ARCHIVE_DAYS: '3' });
      const { archive } = await purgedBy(gateway, 'type=Car&archive=required');
      const days = (Date.parse(archive?.expiresAt ?? '') - Date.now()) / 86_400_000;
      assert.ok(days > 2.9 && days <= 3);
    },
  ],
  AWS_ACCESS_KEY_ID: ['signs requests', async () => refusedByBucket({ AWS_ACCESS_KEY_ID: 'another' })],
  AWS_SECRET_ACCESS_KEY: [
    'signs requests',
    async () => refusedByBucket({ AWS_SECRET_ACCESS_KEY: 'another' }),
  ],
  AWS_SESSION_TOKEN: [
    'is sent with requests and signed',
    async () => {
      const { headers } = await takenByBucket({ AWS_SESSION_TOKEN: 'for-a-while' });
      assert.equal(headers['x-amz-security-token'], 'for-a-while');
      assert.match(headers.authorization ?? '', /SignedHeaders=[^,]*x-amz-security-token/);
    },
  ],
  AWS_REGION: ['is part of signatures', async () => refusedByBucket({ AWS_REGION: 'another' })],
  AWS_ENDPOINT_URL: [
    'is the address of the bucket',
    async () => {
      const { requests } = await takenByBucket({});
      assert.ok(requests.length > 0);
    },
  ],
  ENVIRONMENT_NAME: [
    'is part of the status',
    async () => {
      const { gateway } = await withCars({ ENVIRONMENT_NAME: 'production' });
      const { environment } = (await gateway.send('GET', '/api/v2/status')).json() as { environment: string };
      assert.equal(environment, 'production');
    },
  ],
  INSTANCE_NAME: [
    'is the name of the process in records',
    async () => {
      const { gateway } = await withCars({ INSTANCE_NAME: 'gateway-7' });
      const record = (await gateway.purge('type=Car', ASYNC)).json() as { worker: string };
      assert.equal(record.worker, 'gateway-7');
    },
  ],
  JOB_LEASE_MS: [
    'is how long a gateway keeps its purges without renewing its lease',
    async () => {
      const database = await createDatabase();
      stopLater(() => database.drop());
      const { gateway } = await withHeldCars({ DATABASE_URL: database.url, JOB_LEASE_MS: '3600000' });
      await gateway.purge('type=Car', ASYNC);
      const [{ ms } = { ms: NaN }] = await database.query<{ ms: number }>(
        'SELECT held_until - extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms FROM job',
      );
      assert.ok(ms > 3_000_000 && ms <= 3_600_000, String(ms));
    },
  ],
  BROKER_TIMEOUT_MS: [
    'limits the duration of requests to the broker, for purges and forwarded requests',
    async () => {
      // Late, but within the default.
      const late = async () =>
        new Promise<RecordedAnswer>((resolve) => {
          setTimeout(() => resolve({ status: 200, body: '[]' }), 20_000).unref();
        });
      const silent = await startRecordingBroker(late);
      const env = { BROKER_URL: silent.url, BROKER_TIMEOUT_MS: '1500', RETRY_MAX_ATTEMPTS: '1' };
      const gateway = await startTestGateway(env);
      const startedMs = performance.now();
      const answers = await Promise.all([
        gateway.purge('type=Car'),
        gateway.send('GET', '/ngsi-ld/v1/entities?type=Car'),
      ]);
      assert.ok(performance.now() - startedMs >= 1400);
      for (const answer of answers) {
        assert.equal(answer.status, 504);
        assert.match(answer.problem().type, /broker-timeout$/);
      }
    },
  ],
  RETRY_MAX_ATTEMPTS: [
    'is the maximum number of attempts of a request',
    async () => {
      const broker = await startRecordingBroker(() => ({ status: 503 }));
      const gateway = await startTestGateway({ BROKER_URL: broker.url, RETRY_MAX_ATTEMPTS: '3' });
      assert.equal((await gateway.purge('type=Car')).status, 502);
      assert.equal(broker.requests.length, 3);
    },
  ],
  BROKER_AWAY_MS: [
    'is how long a purge waits for an unavailable broker',
    async () => {
      const broker = await startTestBroker();
      broker.entities.seed(20, entity('Car'));
      const relay = relayTo(broker);
      for (const awayMs of [0, 5000, 20_000]) {
        let isAway = false;
        const leaving = await startRecordingBroker((request) => {
          isAway ||= isBatch(request);
          return isAway ? { status: 503 } : relay(request);
        });
        const clock = createTestClock();
        const before = clock.now();
        const env = { RETRY_MIN_DELAY_MS: '100', RETRY_MAX_DELAY_MS: '1000', RETRY_MAX_ATTEMPTS: '1' };
        const gateway = await startTestGateway(
          { BROKER_URL: leaving.url, BROKER_AWAY_MS: String(awayMs), ...env },
          { clock },
        );
        await gateway.purge('type=Car');
        const waitedMs = clock.now() - before;
        assert.ok(waitedMs >= awayMs && waitedMs <= awayMs + 3000, `${waitedMs} ms for ${awayMs}`);
      }
    },
  ],
  RETRY_MIN_DELAY_MS: [
    'is the shortest pause between attempts',
    async () => {
      const env = { RETRY_MIN_DELAY_MS: '30', RETRY_MAX_DELAY_MS: '70', RETRY_MAX_ATTEMPTS: '4' };
      assert.deepEqual(await sleepsOf(env, 0), [30, 30, 30]);
    },
  ],
  RETRY_MAX_DELAY_MS: [
    'is the longest pause between attempts, and a sixth of the longest accepted Retry-After',
    async () => {
      const env = { RETRY_MIN_DELAY_MS: '30', RETRY_MAX_DELAY_MS: '70', RETRY_MAX_ATTEMPTS: '4' };
      assert.deepEqual(await sleepsOf(env, 0.999_999), [60, 70, 70]);
      for (const [retryAfter, tries] of [
        ['6', 2],
        ['7', 1],
      ] as const) {
        const broker = await startRecordingBroker(() => ({
          status: 429,
          headers: { 'retry-after': retryAfter },
        }));
        const clock = createTestClock();
        const gateway = await startTestGateway(
          { BROKER_URL: broker.url, RETRY_MAX_DELAY_MS: '1000', RETRY_MAX_ATTEMPTS: '2' },
          { clock },
        );
        assert.equal((await gateway.purge('type=Car')).status, 429);
        assert.equal(broker.requests.length, tries);
      }
    },
  ],
  SHUTDOWN_GRACE_MS: [
    'is how long running work may continue after a shutdown began',
    async () => {
      const clock = createTestClock();
      const broker = await startTestBroker();
      const env = { BROKER_URL: broker.url, SHUTDOWN_GRACE_MS: '12345' };
      const gateway = await startTestGateway(env, { clock });
      await gateway.gateway.close();
      assert.equal(clock.sleeps[0], 12_345);
    },
  ],
  WRITE_CHECK: [
    'decides what happens to a write that violates its model',
    async () => {
      const broker = await startTestBroker();
      const schema = { type: 'object', properties: { type: { const: 'Car' }, speed: { type: 'number' } } };
      const seen: unknown[] = [];
      for (const WRITE_CHECK of ['off', 'report', 'enforce']) {
        const { api, ...gateway } = await startApi({ BROKER_URL: broker.url, WRITE_CHECK });
        await makeModel(api, 'D', 'Car', schema);
        const body = JSON.stringify({ id: `urn:ngsi-ld:Car:${WRITE_CHECK}`, type: 'Car', speed: 'fast' });
        const headers = { 'content-type': 'application/json' };
        const answer = await gateway.send('POST', '/ngsi-ld/v1/entities', { headers, body });
        seen.push([answer.status, answer.headers.get('write-check')]);
      }
      assert.deepEqual(seen, [
        [201, null],
        [201, 'invalid'],
        [400, null],
      ]);
    },
  ],
  BODY_LIMIT_BYTES: [
    'is the maximum size of bodies under /api/v2',
    async () => {
      const { api } = await startApi({ BODY_LIMIT_BYTES: '2000' });
      const bodyOf = (bytes: number) => JSON.stringify({ name: 'City' }).padEnd(bytes);
      assert.equal((await api.send('POST', '/domains', { raw: bodyOf(2001) })).status, 413);
      assert.equal((await api.send('POST', '/domains', { raw: bodyOf(2000) })).status, 201);
    },
  ],
  IMPORT_LIMIT_BYTES: [
    'is the maximum size of an import, and an eighth of its maximum content',
    async () => {
      const { api } = await startApi({ IMPORT_LIMIT_BYTES: '2000' });
      const sending = async (raw: Buffer) => {
        const headers = { 'content-type': 'application/gzip' };
        return (await api.send('POST', '/import?domain=D', { raw, headers })).status;
      };
      const holding = (bytes: number) => tarGz([{ name: 'a.txt', content: 'x'.repeat(bytes) }]);
      assert.equal(await sending(Buffer.alloc(2001)), 413);
      // A tar has a header of 512 bytes before each file, and 1024 bytes at its end.
      assert.equal(await sending(await holding(16_000 - 2048)), 200);
      assert.equal(await sending(await holding(16_000)), 413);
    },
  ],
  REMOTE_ALLOWED_ORIGINS: [
    'are the only origins that documents are fetched from',
    async () => {
      const site = await startRecordingBroker(() => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"type": "number"}',
      }));
      const schema = { type: 'object', properties: { speed: { $ref: `${site.url}/speed.json` } } };
      for (const [origins, status] of [
        ['https://models.example', 422],
        [`https://models.example,${site.url}`, 201],
      ] as const) {
        const { api } = await startApi({ REMOTE_ALLOWED_ORIGINS: origins });
        await api.post('/domains', { name: 'City' });
        const made = await api.post('/domains/City/models', { name: 'Car', schema });
        assert.equal(made.status, status, made.text);
        assert.equal(site.requests.length, status === 201 ? 1 : 0);
      }
    },
  ],
  CONTEXT_BASE_IRI: [
    'is the base IRI of generated terms',
    async () => {
      const { api } = await startApi({ CONTEXT_BASE_IRI: 'https://city.test/terms#' });
      const schema = { type: 'object', properties: { speed: { type: 'number' } } };
      const path = await makeModel(api, 'City', 'Car', schema);
      assert.ok((await api.get(`${path}/context`)).text.includes('https://city.test/terms#speed'));
    },
  ],
  WORKBENCH_TIMEOUT_MS: [
    'limits the duration of work on schemas and documents',
    async () => {
      const store = { DATABASE_PATH: join(temporaryFolder(), 'schema.db') };
      const schema = { type: 'object', properties: { name: { type: 'string', pattern: '^(a|a)*$' } } };
      const patient = await startApi(store);
      await makeModel(patient.api, 'City', 'Hostile', schema);
      await patient.gateway.close();
      const { api } = await startApi({ ...store, WORKBENCH_TIMEOUT_MS: '500' });
      const endless = { id: 'urn:a:1', type: 'Hostile', name: `${'a'.repeat(60)}!` };
      // A task without its own deadline may take half a minute if no client waits for it.
      const late = sleep(25_000, undefined, { ref: false });
      const answer = await Promise.race([api.post('/validate/City/Hostile', endless), late]);
      assert.equal(answer?.status, 504, answer?.text);
    },
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'receives the spans, with the name of OTEL_SERVICE_NAME',
    async () => {
      assert.match(
        await exported({ OTEL_SERVICE_NAME: 'city' }),
        /"service\.name","value":\{"stringValue":"city"/,
      );
    },
  ],
  OTEL_SERVICE_NAME: [
    'defaults to ngsi-ld-gateway',
    async () => {
      assert.match(await exported({}), /"stringValue":"ngsi-ld-gateway"/);
    },
  ],
  OTEL_TRACES_SAMPLER_ARG: [
    'is the share of requests that are traced',
    async () => {
      assert.equal(await exported({ OTEL_TRACES_SAMPLER_ARG: '0' }), '');
    },
  ],
  LOG_LEVEL: [
    'is the minimum level of log lines',
    async () => {
      for (const [LOG_LEVEL, logged] of [
        ['error', []],
        ['info', ['purge finished', 'pass-through failed']],
      ] as const) {
        const broker = await startTestBroker();
        const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL });
        assert.equal((await gateway.purge('type=Car')).status, 204);
        await broker.close();
        assert.equal((await gateway.send('GET', '/ngsi-ld/v1/types')).status, 502);
        const told = gateway.log.lines.map(({ msg }) => msg);
        assert.deepEqual(
          told.filter((msg) => msg === 'purge finished' || msg === 'pass-through failed'),
          logged,
        );
      }
    },
  ],
};

/** Returns what a gateway sends to its collector about a request. */
async function exported(env: Readonly<Record<string, string>>): Promise<string> {
  const collector = await startRecordingBroker();
  const { gateway } = await withCars({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
  await gateway.send('GET', '/ngsi-ld/v1/types');
  await gateway.gateway.close();
  return collector.requests.map(({ body }) => body).join();
}

for (const [name, [effect, check]] of Object.entries(EFFECTS)) it(`${name} ${effect}`, PATIENCE, check);
