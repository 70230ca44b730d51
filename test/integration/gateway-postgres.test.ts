import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import {
  startTestBroker,
  startTestGateway,
  stopAll,
  stopLater,
  type TestGateway,
} from '../support/gateway-harness.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { createDatabase, PostgresServer, type TestDatabase } from '../support/postgres.js';
import { Gate, isDelete, relayTo, startRecordingBroker } from '../support/recording-broker.js';
import { ApiClient, CAR, makeModel } from './api-client.js';

after(stopAll);

const PATIENCE = { timeout: 300_000 };

/** The number of connections that are cut while clients write and read. */
const CUTS = 25;

async function fresh(server?: string): Promise<TestDatabase> {
  const database = await createDatabase(server);
  stopLater(() => database.drop());
  return database;
}

const car = (index: number) => ({
  id: `urn:ngsi-ld:Car:${String(index)}`,
  type: 'Car',
  speed: { type: 'Property', value: index },
});

/** Starts a broker with twenty cars that answers no delete until its gate opens. */
async function startCars() {
  const broker = await startTestBroker();
  broker.entities.seed(20, car);
  const held = { gate: new Gate() };
  const relay = relayTo(broker);
  const recorder = await startRecordingBroker(async (request) => {
    if (isDelete(request)) await held.gate.passed;
    return relay(request);
  });
  stopLater(async () => held.gate.open());
  return { broker, held, url: recorder.url };
}

/**
 * Starts a gateway on a database, in front of a broker with twenty cars. With isHeld, no delete is
 * answered until the gate opens.
 */
async function start(
  database: string,
  env: Readonly<Record<string, string>> = {},
  { isHeld = false, cars }: { readonly isHeld?: boolean; readonly cars?: Cars } = {},
) {
  const at = cars ?? (await startCars());
  at.held.gate = new Gate();
  const { gate } = at.held;
  if (!isHeld) gate.open();
  const gateway = await startTestGateway({
    BROKER_URL: at.url,
    DATABASE_URL: database,
    WORKBENCH_TIMEOUT_MS: '60000',
    ...env,
  });
  return { gateway, gate, cars: at, broker: at.broker, api: await ApiClient.of(gateway.url) };
}

type Cars = Awaited<ReturnType<typeof startCars>>;
type Started = Awaited<ReturnType<typeof start>>;

const recordOf = async (gateway: TestGateway, id: string | null) =>
  (await gateway.send('GET', `/api/v2/purges/${String(id)}`)).json() as PurgeRecord;

/** Repeats a read until the answer is right. */
async function until<Found>(look: () => Promise<Found>, isRight: (found: Found) => boolean): Promise<Found> {
  for (;;) {
    const found = await look();
    if (isRight(found)) return found;
    await pause(20);
  }
}

describe('two gateways on one PostgreSQL', PATIENCE, () => {
  let url: string;
  let one: Started;
  let two: Started;
  before(async () => {
    ({ url } = await fresh());
    [one, two] = [await start(url), await start(url)];
  });

  it('one gateway on PostgreSQL validates at once by a model that another gateway has stored', async () => {
    await makeModel(one.api, 'City', 'Car');
    const entity = (speed: unknown) => ({ id: 'urn:ngsi-ld:Car:1', type: 'Car', speed });
    const isValid = async (speed: unknown) =>
      ((await two.api.post('/validate/City/Car', entity(speed))).json() as { valid: boolean }).valid;
    assert.deepEqual([await isValid(7), await isValid('seven')], [true, false]);
    for (const type of ['string', 'number', 'string']) {
      const schema = { ...CAR, properties: { ...CAR.properties, speed: { type } } };
      assert.equal((await one.api.put('/domains/City/models/Car', { schema })).status, 200);
      assert.equal(await isValid(type === 'string' ? 'seven' : 7), true);
      assert.equal(await isValid(type === 'string' ? 7 : 'seven'), false);
    }
  });

  it('one gateway on PostgreSQL expands at once by a context that another gateway has stored', async () => {
    await one.api.post('/contexts', { name: 'Own', '@context': { speed: 'https://city.example/v0' } });
    const document = {
      '@context': `${two.api.url}/contexts/Own`,
      id: 'urn:ngsi-ld:Car:1',
      type: 'Car',
      speed: { type: 'Property', value: 1 },
    };
    for (let version = 1; version <= 3; version += 1) {
      const iri = `https://city.example/v${String(version)}`;
      assert.equal((await one.api.put('/contexts/Own', { '@context': { speed: iri } })).status, 200);
      const expanded = await two.api.post('/workbench/jsonld/expand', { document });
      const { result } = expanded.json() as { result: readonly object[] };
      assert.ok(iri in (result[0] ?? {}), expanded.text);
    }
  });

  it("two gateways on one PostgreSQL show each other's purges, and do not take them over", async () => {
    const mine = await start(url, { INSTANCE_NAME: 'mine' }, { isHeld: true });
    const purge = mine.gateway.purge('type=Car');
    const job = await mine.gateway.purge('type=Car', { prefer: 'respond-async' });
    assert.equal(job.status, 202);
    const running = await until(
      async () => (await mine.api.get('/purges?state=running')).json() as PurgeRecord[],
      (records) => records.length === 2,
    );
    const late = await start(url);
    for (const { id } of running) {
      const { state, worker } = await recordOf(late.gateway, id);
      assert.deepEqual([state, worker], ['running', 'mine']);
    }
    mine.gate.open();
    const id = (await purge).headers.get('purge-id');
    assert.equal((await purge).status, 204);
    await until(
      () => recordOf(late.gateway, id),
      ({ state }) => state === 'succeeded',
    );
    await until(
      () => recordOf(late.gateway, job.headers.get('purge-id')),
      ({ state }) => state === 'succeeded',
    );
  });

  it('another gateway on the same PostgreSQL has the end of a purge as soon as its caller has the answer', async () => {
    for (const [query, status, state] of [
      ['type=Car&dryRun=true', 200, 'succeeded'],
      ['typo=Car', 400, 'refused'],
      ['type=Car&maxAffected=1', 409, 'refused'],
      ['type=Car', 204, 'succeeded'],
    ] as const)
      for (let n = 0; n < 5; n += 1) {
        const answer = await one.gateway.purge(query);
        assert.equal(answer.status, status, query);
        const id = answer.headers.get('purge-id');
        assert.equal((await recordOf(two.gateway, id)).state, state, query);
        const list = await two.gateway.send('GET', '/api/v2/purges?limit=1');
        assert.equal((list.json() as readonly PurgeRecord[])[0]?.id, id, query);
      }
  });

  it('each of two gateways on one PostgreSQL proves a query by itself', async () => {
    const broker = await startTestBroker();
    broker.entities.seed(20, car);
    const recorder = await startRecordingBroker(relayTo(broker));
    const env = { BROKER_URL: recorder.url, DATABASE_URL: url };
    const [first, second] = [await startTestGateway(env), await startTestGateway(env)];
    const probes = () => recorder.requests.filter((request) => request.url.includes('PurgeProbe')).length;
    for (const [gateway, asked] of [
      [first, 2],
      [first, 2],
      [second, 4],
    ] as const) {
      assert.equal((await gateway.purge('type=Car&q=speed<5')).status, 204);
      assert.equal(probes(), asked);
      broker.entities.seed(5, car);
    }
  });

  it('a gateway on PostgreSQL continues the jobs of an earlier process with the same name', async () => {
    const early = await start(url, { INSTANCE_NAME: 'same', PURGE_MAX_RUNNING: '2' }, { isHeld: true });
    const jobs = [];
    for (let n = 0; n < 4; n += 1)
      jobs.push((await early.gateway.purge('type=Car', { prefer: 'respond-async' })).headers.get('purge-id'));
    const closed = early.gateway.gateway.close();
    early.gate.open();
    await closed;
    const again = await start(url, { INSTANCE_NAME: 'same' }, { cars: early.cars });
    for (const id of jobs)
      await until(
        () => recordOf(again.gateway, id),
        ({ state }) => state === 'succeeded',
      );
  });
});

describe('a gateway whose PostgreSQL is unavailable for a while', PATIENCE, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.close());

  const statusOf = async (gateway: TestGateway) => {
    const answer = await gateway.send('GET', '/health/ready');
    return [answer.status, (answer.json() as { database: string }).database];
  };

  it('a gateway starts without its PostgreSQL, purges and forwards, and uses the database once it is available', async () => {
    const database = await createDatabase(server.url);
    await server.stop();
    const { gateway, broker, api } = await start(database.url);
    assert.deepEqual(await statusOf(gateway), [503, 'down']);
    // Kong relies on these: everything that needs no database works.
    assert.equal((await gateway.send('GET', '/health/live')).status, 200);
    assert.equal((await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car&limit=1')).status, 200);
    for (const answer of [
      await api.get('/domains'),
      await api.post('/domains', { name: 'City' }),
      await gateway.purge('type=Car', { prefer: 'respond-async' }),
    ]) {
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
      assert.doesNotMatch(answer.text, /127\.0\.0\.1|tester|secret/);
    }
    const purge = await gateway.purge('type=Car');
    assert.deepEqual([purge.status, broker.entities.count()], [204, 0]);

    await server.restart();
    await until(
      () => statusOf(gateway),
      ([status]) => status === 200,
    );
    assert.equal((await api.post('/domains', { name: 'City' })).status, 201);
    const id = purge.headers.get('purge-id') ?? '';
    const written = () => database.query<{ state: string }>(`SELECT state FROM job WHERE id = '${id}'`);
    assert.deepEqual(await until(written, (rows) => rows.length === 1), [{ state: 'succeeded' }]);
    assert.equal(gateway.log.with('the database cannot be reached').length, 1);
    assert.equal(gateway.log.with('the database can be used again').length, 1);
    assert.doesNotMatch(gateway.log.text, /secret( |%20)of/);
  });

  it('a gateway finishes purges while its PostgreSQL is unavailable, and loses nothing that it acknowledged', async () => {
    const database = await createDatabase(server.url);
    const { gateway, gate, api } = await start(database.url, {}, { isHeld: true });
    const path = await makeModel(api, 'City', 'Car');
    const purge = gateway.purge('type=Car');
    await until(
      async () => (await api.get('/purges?state=running')).json() as unknown[],
      ({ length }) => length === 1,
    );
    await server.stop();
    assert.equal((await api.get(path)).status, 503);
    gate.open();
    assert.equal((await purge).status, 204);
    await server.restart();
    await until(
      () => statusOf(gateway),
      ([status]) => status === 200,
    );
    assert.equal((await api.get(path)).status, 200);
    const id = (await purge).headers.get('purge-id') ?? '';
    const written = () => database.query<{ state: string }>(`SELECT state FROM job WHERE id = '${id}'`);
    await until(written, ([row]) => row?.state === 'succeeded');
  });

  it('a gateway closes seconds after its grace time although its PostgreSQL hangs, and logs the records that are lost', async () => {
    const database = await fresh();
    const proxy = await CuttingProxy.start(Number(new URL(database.url).port));
    stopLater(() => proxy.close());
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const { gateway } = await start(url.href, { SHUTDOWN_GRACE_MS: '0' });
    assert.equal((await gateway.purge('type=Car&dryRun=true')).status, 200);
    proxy.silence();
    const { headers } = await gateway.purge('type=Car');
    const beganMs = performance.now();
    await gateway.gateway.close();
    assert.ok(performance.now() - beganMs < 9000, 'two seconds for the last answers and five for closing');
    assert.deepEqual(
      gateway.log.with('record of a purge lost').map(({ record }) => (record as PurgeRecord).id),
      [headers.get('purge-id')],
    );
  });

  it('a gateway takes over the purges of an earlier process once PostgreSQL is available, but does not restart its own', async () => {
    const database = await createDatabase(server.url);
    const one = await start(database.url, { INSTANCE_NAME: 'one' }, { isHeld: true });
    const job = (await one.gateway.purge('type=Car', { prefer: 'respond-async' })).headers.get('purge-id');
    const closed = one.gateway.gateway.close();
    one.gate.open();
    await closed;
    await server.stop();
    const two = await start(database.url, { INSTANCE_NAME: 'one' }, { isHeld: true, cars: one.cars });
    const own = two.gateway.purge('type=Car');
    await server.restart();
    await until(
      () => two.gateway.send('GET', `/api/v2/purges/${String(job)}`),
      (answer) => answer.status === 200 && (answer.json() as PurgeRecord).state === 'running',
    );
    two.gate.open();
    await until(
      () => recordOf(two.gateway, job),
      ({ state }) => state === 'succeeded',
    );
    assert.equal((await own).status, 204);
    const id = (await own).headers.get('purge-id');
    await until(
      () => recordOf(two.gateway, id),
      ({ state }) => state === 'succeeded',
    );
  });

  it('a gateway keeps answering while connections to PostgreSQL are cut one by one, and keeps all acknowledged writes', async () => {
    const database = await createDatabase(server.url);
    const { api } = await start(database.url);
    await api.post('/domains', { name: 'City' });
    const progress = { isCutting: true };
    const created: string[] = [];
    const statuses = new Map<number, number>();
    const client = async (number: number) => {
      for (let n = 0; progress.isCutting; n += 1) {
        const name = `d${String(number)}-${String(n)}`;
        const made = await api.post('/domains', { name });
        if (made.status === 201) created.push(name);
        const { status } = await api.get('/domains/City');
        for (const each of [made.status, status]) statuses.set(each, (statuses.get(each) ?? 0) + 1);
      }
    };
    const clients = [1, 2, 3, 4, 5, 6].map(client);
    let cuts = 0;
    for (; cuts < CUTS || created.length <= 20; cuts += 1)
      await database.query(`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'ngsi-ld-gateway' AND datname = current_database() ORDER BY random() LIMIT 1`);
    progress.isCutting = false;
    await Promise.all(clients);
    const rows = await database.query<{ name: string }>('SELECT name FROM domain');
    const kept = new Set(rows.map(({ name }) => name));
    assert.deepEqual(
      created.filter((name) => !kept.has(name)),
      [],
    );
    assert.ok(created.length > 20, `${String(created.length)} created`);
    assert.deepEqual(
      [...statuses.keys()].filter((status) => ![200, 201, 503].includes(status)),
      [],
    );
    // A write whose commit was cut cannot be repeated.
    assert.ok((statuses.get(503) ?? 0) <= cuts, JSON.stringify([...statuses]));
  });
});
