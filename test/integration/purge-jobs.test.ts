import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { systemClock } from '../../sidecar/shared/clock.js';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import {
  PATIENT,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { holdBack, isDelete } from '../support/recording-broker.js';
import { untilTrue } from '../support/waiting.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const ASYNC = { prefer: 'respond-async' };
const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' });

/** Starts a broker with cars whose deletes wait for a gate. */
async function startHeldBroker(cars: number) {
  const broker = await startTestBroker();
  broker.entities.seed(cars, car);
  return { broker, ...(await holdBack(broker)) };
}

async function submitted(
  gateway: Pick<TestGateway, 'purge'>,
  query: string,
  headers = {},
): Promise<PurgeRecord> {
  const answer = await gateway.purge(query, { ...ASYNC, ...headers });
  assert.equal(answer.status, 202, answer.text);
  const record = answer.json() as PurgeRecord;
  assert.equal(answer.headers.get('location'), `/api/v2/purges/${record.id}`);
  assert.equal(answer.headers.get('preference-applied'), 'respond-async');
  assert.equal(answer.headers.get('purge-id'), record.id);
  return record;
}

const recordOf = async (gateway: Pick<TestGateway, 'send'>, id: string): Promise<PurgeRecord> =>
  (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;

/** The record of an ended purge, alternately of the tenants t0 and t1. */
function oldRecord(number: number): PurgeRecord {
  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    state: 'succeeded',
    target: 'entities',
    query: 'type=Car',
    tenant: `t${String(number % 2)}`,
    caller: 'c',
    requestId: String(number),
    worker: 'w',
    dryRun: false,
    policy: {},
    maxPerSecond: null,
    concurrency: 1,
    matched: 1,
    deleted: 1,
    alreadyGone: 0,
    failed: 0,
    unknown: 0,
    arrived: 0,
    requests: 1,
    retries: 0,
    createdAt: now,
    startedAt: now,
    endedAt: now,
    errors: [],
    warnings: [],
  };
}

/** Follows the events of a purge until it ends. */
async function ended(url: string, id: string): Promise<PurgeRecord> {
  const response = await fetch(`${url}/api/v2/purges/${id}/events`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const records = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as PurgeRecord);
  return records.at(-1) ?? assert.fail('no event came');
}

it('a purge as a job is answered at once, runs to its end, and has a full record', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(30, car);
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const record = await submitted(gateway, 'type=Car', { 'x-request-id': 'request-1' });
  const last = await ended(gateway.url, record.id);
  assert.equal(last.state, 'succeeded');
  // The most important members come first.
  assert.deepEqual(Object.keys(last).slice(0, 2), ['id', 'state']);
  assert.deepEqual(
    [last.matched, last.deleted, last.alreadyGone, last.failed, last.unknown],
    [30, 30, 0, 0, 0],
  );
  assert.equal(broker.entities.count(), 0);
  assert.deepEqual(await recordOf(gateway, record.id), last);
  assert.equal(last.requestId, 'request-1');
  assert.equal(last.unit, 'entities');
  assert.ok(last.startedAt !== undefined && last.endedAt !== undefined);
});

it('the answer to POST /purges names the record in Purge-Id, whether the purge is accepted or refused', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  for (const [query, status, state] of [
    ['type=Car', 202, undefined],
    ['typo=Car', 400, 'refused'],
  ] as const) {
    const answer = await gateway.sendJson('POST', '/api/v2/purges', { target: 'entities', query });
    assert.equal(answer.status, status, answer.text);
    const record = await recordOf(gateway, answer.headers.get('purge-id') ?? '');
    assert.equal(record.query, query);
    if (status === 202) assert.equal((answer.json() as PurgeRecord).id, record.id);
    if (state !== undefined) assert.equal(record.state, state);
  }
});

it('a purge has a record even if its caller waited, it deleted nothing, or it was refused', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, car);
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const preview = await gateway.purge('type=Car&dryRun=true');
  const refused = await gateway.purge('typo=Car');
  const bounded = await gateway.purge('type=Car&maxAffected=1');
  const done = await gateway.purge('type=Car');
  for (const [answer, state, status] of [
    [preview, 'succeeded', 200],
    [refused, 'refused', 400],
    [bounded, 'refused', 409],
    [done, 'succeeded', 204],
  ] as const) {
    assert.equal(answer.status, status);
    const record = await recordOf(gateway, answer.headers.get('purge-id') ?? '');
    assert.equal(record.state, state);
    assert.equal(record.problem?.status, state === 'refused' ? status : undefined);
  }
  for (const [headers, status] of [
    [{ 'x-purge-policy': 'max-affected=abc' }, 400],
    [{ 'ngsild-snapshot': 'urn:x' }, 501],
  ] as const) {
    const answer = await gateway.purge('type=Car&dryRun=true', headers);
    assert.equal(answer.status, status);
    const record = await recordOf(gateway, answer.headers.get('purge-id') ?? '');
    assert.deepEqual([record.state, record.problem?.status, record.dryRun], ['refused', status, true]);
  }
  const list = await gateway.send('GET', '/api/v2/purges?state=refused');
  assert.equal(list.headers.get('x-total-count'), '4');
  const listed = async (query: string) => {
    const answer = await gateway.send('GET', `/api/v2/purges?${query}`);
    return (answer.json() as readonly PurgeRecord[]).map(({ dryRun }) => dryRun);
  };
  const every = await listed('');
  assert.ok(every.includes(true) && every.includes(false));
  assert.deepEqual(
    await listed('dryRun=true'),
    every.filter((isDry) => isDry),
  );
  assert.deepEqual(
    await listed('dryRun=false'),
    every.filter((isDry) => !isDry),
  );
  assert.equal((await gateway.send('GET', '/api/v2/purges?dryRun=yes')).status, 400);
  for (const time of ['since=yesterday', 'until=2026-13-01', 'since=2026-01-01T00:00:00', 'until=2026']) {
    const refused = await gateway.send('GET', `/api/v2/purges?${time}`);
    const [name] = time.split('=');
    assert.deepEqual(
      [refused.status, (refused.json() as { parameter: string }).parameter],
      [400, name],
      time,
    );
  }
  const blank = await gateway.send('GET', '/api/v2/purges?since=2026-01-01T00:00:00+02:00');
  assert.match(blank.problem().detail ?? '', /write \+ as %2B/);
});

it('a job can be cancelled while it waits and while it runs: deletes in flight finish, and no others are sent', async () => {
  const { broker, held, gate } = await startHeldBroker(40);
  const gateway = await startTestGateway({
    BROKER_URL: held.url,
    PURGE_MAX_RUNNING: '1',
    PURGE_BATCH_SIZE: '5',
    PURGE_CONCURRENCY: '2',
  });
  const first = await submitted(gateway, 'type=Car');
  const second = await submitted(gateway, 'type=Car');
  await held.arrived(isDelete, 2);
  for (const { id } of [second, first, first]) {
    const answer = await gateway.send('POST', `/api/v2/purges/${id}/cancel`);
    assert.equal(answer.status, 202, answer.text);
  }
  assert.equal((await recordOf(gateway, second.id)).state, 'cancelled');
  assert.equal((await recordOf(gateway, first.id)).state, 'cancelling');
  gate.open();
  const last = await ended(gateway.url, first.id);
  assert.equal(last.state, 'cancelled');
  assert.equal(last.deleted, 40 - broker.entities.count());
  assert.equal(last.deleted, 10);
});

it('a purge with a waiting caller can be cancelled, and the caller gets 503 with the counts', async () => {
  const { held, gate } = await startHeldBroker(40);
  const gateway = await startTestGateway({ BROKER_URL: held.url, PURGE_BATCH_SIZE: '5' });
  const waiting = gateway.purge('type=Car');
  await held.arrived(isDelete);
  const [running] = (await gateway.send('GET', '/api/v2/purges?state=running')).json() as PurgeRecord[];
  const { id } = running ?? assert.fail('no purge runs');
  assert.equal((await gateway.send('POST', `/api/v2/purges/${id}/cancel`)).status, 202);
  gate.open();
  const answer = await waiting;
  assert.equal(answer.status, 503);
  assert.equal(answer.problem().type, 'urn:ngsi-ld-gateway:problem:purge-cancelled');
  // There is no Retry-After, since a cancelled purge need not be repeated.
  assert.equal(answer.headers.get('retry-after'), null);
  assert.equal(typeof answer.problem()['deleted'], 'number');
  assert.equal((await recordOf(gateway, id)).state, 'cancelled');
});

it('the rate and concurrency of a job can be changed while it runs, within its policy', async () => {
  const { held, gate } = await startHeldBroker(40);
  const gateway = await startTestGateway({ BROKER_URL: held.url, PURGE_CONCURRENCY: '8' });
  const { id } = await submitted(gateway, 'type=Car', { 'x-purge-policy': 'concurrency=3' });
  await held.arrived(isDelete);
  const change = (body: object) => gateway.sendJson('PATCH', `/api/v2/purges/${id}`, body);
  const changed = (await change({ maxPerSecond: 500, concurrency: 100 })).json() as PurgeRecord;
  assert.deepEqual([changed.maxPerSecond, changed.concurrency], [500, 3]);
  assert.equal((await change({ maxPerSecond: 0 })).status, 422);
  assert.equal((await change({ rate: 3 })).status, 422);
  assert.equal(((await change({ maxPerSecond: null })).json() as PurgeRecord).maxPerSecond, null);
  gate.open();
  assert.equal((await ended(gateway.url, id)).state, 'succeeded');
  assert.equal((await change({ maxPerSecond: 5 })).status, 409);
});

it('a job can be started by POST, with the members of the purge in the body', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(12, car, 'north');
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const post = (body: object) => gateway.sendJson('POST', '/api/v2/purges', body);
  const answer = await post({ target: 'entities', query: 'type=Car', tenant: 'north', maxAffected: 12 });
  assert.equal(answer.status, 202, answer.text);
  const { id, tenant } = answer.json() as PurgeRecord;
  assert.equal(tenant, 'north');
  assert.equal((await ended(gateway.url, id)).deleted, 12);
  assert.equal(broker.entities.count('north'), 0);
  for (const wrong of [
    { target: 'entities' },
    { target: 'all', query: 'type=Car' },
    { target: 'entities', query: 'type=Car&maxAffected=1', maxAffected: 2 },
    { target: 'entities', query: 'type=Car', maxAfected: 2 },
    { target: 'entities', query: 'type=Car', tenant: '' },
  ])
    assert.match(String((await post(wrong)).status), /^4(?:00|22)$/, JSON.stringify(wrong));
});

it('records of purges can be read only with the token, if there is one', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-jobs' });
  const token = { 'x-gateway-token': 'token-of-jobs' };
  const done = await gateway.purge('type=Car', { ...token, 'x-consumer-username': 'ann' });
  const id = done.headers.get('purge-id') ?? '';
  for (const path of ['', `/${id}`, `/${id}/events`]) {
    assert.equal((await gateway.send('GET', `/api/v2/purges${path}`)).status, 401, path);
    assert.equal((await gateway.send('GET', `/api/v2/purges${path}`, { headers: token })).status, 200, path);
  }
  assert.equal((await gateway.send('POST', `/api/v2/purges/${id}/cancel`)).status, 401);
  const record = (
    await gateway.send('GET', `/api/v2/purges/${id}`, { headers: token })
  ).json() as PurgeRecord;
  assert.equal(record.caller, 'ann');
});

it('a purge of a caller with a long name is accepted, wherever the name in its record is cut', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-jobs' });
  const name = Buffer.from(`${'a'.repeat(255)}\u{1f600}`).toString('latin1');
  const headers = {
    'x-gateway-token': 'token-of-jobs',
    'x-consumer-username': name,
    prefer: 'respond-async',
  };
  const answer = await gateway.purge('type=Car', headers);
  assert.equal(answer.status, 202, answer.text);
  assert.match((answer.json() as PurgeRecord).caller, /^a{255}/);
});

it('without a token, callers are anonymous whatever name they send, also in an open gateway', async () => {
  const broker = await startTestBroker();
  for (const GATEWAY_OPEN of ['false', 'true']) {
    const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_OPEN });
    const named = { 'x-consumer-username': 'ann', 'x-authenticated-userid': 'ann' };
    const id = (await gateway.purge('type=Car', named)).headers.get('purge-id') ?? '';
    const record = (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;
    assert.equal(record.caller, 'anonymous');
  }
});

it('more than a thousand records of purges are listed in pages, newest first', async () => {
  const path = join(temporaryFolder(), 'schema.db');
  const store = await SqliteStore.open(path, systemClock);
  const numbers = Array.from({ length: 1_200 }, (_, index) => index);
  for (const number of numbers) await store.jobs.put(oldRecord(number));
  await store.close();
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, DATABASE_PATH: path });
  const found: string[] = [];
  for (let next: string | undefined = '/api/v2/purges?tenant=t1&limit=250'; next !== undefined;) {
    const answer = await gateway.send('GET', next);
    assert.equal(answer.headers.get('x-total-count'), '600');
    found.push(...(answer.json() as PurgeRecord[]).map(({ requestId }) => requestId));
    next = /<[^>]*(\/api\/v2[^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  const expected = numbers.filter((number) => number % 2 === 1).map(String);
  assert.deepEqual(found, expected.reverse());
});

it('jobs of different tenants take turns', async () => {
  const { broker, held, gate } = await startHeldBroker(0);
  for (const tenant of ['a', 'b', 'c']) broker.entities.seed(1, car, tenant);
  const gateway = await startTestGateway({ BROKER_URL: held.url, PURGE_MAX_RUNNING: '1' });
  const ids: string[] = [];
  for (const tenant of ['a', 'a', 'a', 'b', 'c'])
    ids.push((await submitted(gateway, 'type=Car', { 'ngsild-tenant': tenant })).id);
  gate.open();
  const records = await Promise.all(ids.map((id) => ended(gateway.url, id)));
  const order = records
    .toSorted((x, y) => (x.startedAt ?? '').localeCompare(y.startedAt ?? ''))
    .map(({ tenant }) => tenant);
  assert.ok(order.indexOf('b') < order.lastIndexOf('a'), order.join());
  assert.ok(order.indexOf('c') < order.lastIndexOf('a'), order.join());
});

type Env = Readonly<Record<string, string>> & { readonly BROKER_URL: string };

async function startToKill(env: Env) {
  const gateway = await GatewayProcess.start(env);
  const stop = async () => {
    gateway.signal('SIGKILL');
    await gateway.ended;
  };
  return { url: await gateway.url(), stop };
}

async function startToStop(env: Env) {
  const { url, gateway } = await startTestGateway(env);
  return { url, stop: () => gateway.close() };
}

for (const how of ['SIGKILL', 'an orderly stop'] as const) {
  it(`a gateway that is restarted after ${how} continues its jobs until nothing matches`, async () => {
    const { broker, held, gate } = await startHeldBroker(200);
    const env = {
      BROKER_URL: held.url,
      PORT: '0',
      HOST: '127.0.0.1',
      PURGE_MAX_RUNNING: '1',
      PURGE_BATCH_SIZE: '10',
      DATABASE_PATH: join(temporaryFolder(), 'schema.db'),
      JOB_SECRET: 'a-secret-of-jobs',
    };
    const { url, stop } = await (how === 'SIGKILL' ? startToKill(env) : startToStop(env));
    const submit = async (headers: Readonly<Record<string, string>>) => {
      const answer = await fetch(`${url}/ngsi-ld/v1/entities?type=Car`, {
        method: 'DELETE',
        headers: { ...ASYNC, ...headers },
      });
      return (await answer.json()) as PurgeRecord;
    };
    const running = await submit({ authorization: 'Bearer secret-of-the-caller' });
    const queued = await submit({});
    await held.arrived(isDelete, 2);
    const stopped = stop();
    gate.open();
    await stopped;

    const { url: again } = await startTestGateway({ ...env, ...PATIENT });
    for (const { id } of [running, queued]) {
      const last = await ended(again, id);
      assert.equal(last.state, 'succeeded', JSON.stringify(last));
      const { matched, deleted, alreadyGone, failed, unknown } = last;
      assert.equal(matched, deleted + alreadyGone + failed + unknown);
    }
    assert.equal(broker.entities.count(), 0);
    const kept = held.requests.filter(
      ({ headers }) => headers['authorization'] === 'Bearer secret-of-the-caller',
    );
    assert.ok(kept.length > 0);
  });
}

it('a gateway restarted with another broker after a crash shows the jobs for the first broker as queued, with the reason', async () => {
  const { broker, held, gate } = await startHeldBroker(50);
  const other = await startTestBroker();
  const env = {
    PURGE_BATCH_SIZE: '10',
    PURGE_CONCURRENCY: '1',
    DATABASE_PATH: join(temporaryFolder(), 'schema.db'),
  };
  const { url, stop } = await startToKill({ ...env, PORT: '0', BROKER_URL: held.url });
  const answer = await fetch(`${url}/ngsi-ld/v1/entities?type=Car`, { method: 'DELETE', headers: ASYNC });
  const { id } = (await answer.json()) as PurgeRecord;
  await held.arrived(isDelete, 1);
  await stop();

  const listed = async (gateway: TestGateway, state: string) =>
    ((await gateway.send('GET', `/api/v2/purges?state=${state}`)).json() as PurgeRecord[]).map(
      (record) => record.id,
    );
  const waitsFor = `It waits for the broker ${held.url} on this machine, `;
  for (let start = 1; start <= 2; start += 1) {
    const second = await startTestGateway({ ...env, BROKER_URL: other.url });
    const told = () => second.log.with('jobs wait for a broker other than the one that BROKER_URL names');
    await untilTrue(() => told().length > 0);
    const { state, ratePerSecond, warnings } = await recordOf(second, id);
    assert.deepEqual([state, ratePerSecond], ['queued', undefined]);
    assert.deepEqual(
      told().map((line) => [line['jobs'], line['purgeIds'], line['brokers']]),
      [[1, [id], [`${held.url} on this machine`]]],
    );
    assert.deepEqual(
      warnings.map((warning) => warning.slice(0, waitsFor.length)),
      [warnings[0]?.slice(0, waitsFor.length), waitsFor],
      'each once, however often it is started',
    );
    assert.match(warnings[0] ?? '', /^The gateway was restarted\./);
    assert.deepEqual([await listed(second, 'queued'), await listed(second, 'running')], [[id], []]);
    await second.gateway.close();
  }

  gate.open();
  const third = await startTestGateway({ ...env, BROKER_URL: held.url });
  const last = await ended(third.url, id);
  assert.equal(last.state, 'succeeded');
  assert.doesNotMatch(last.warnings.join(), /It waits/);
  assert.match(last.warnings[0] ?? '', /^The gateway was restarted\./);
  assert.equal(broker.entities.count(), 0);
  assert.deepEqual(third.log.with('jobs wait for a broker other than the one that BROKER_URL names'), []);
});

it('a gateway restarted with another broker sends that broker nothing of the jobs for the first one', async () => {
  const { held, gate } = await startHeldBroker(50);
  const other = await startTestBroker();
  other.entities.seed(20, car);
  other.entities.seed(5, (index) => ({ ...car(index), id: `urn:ngsi-ld:Bike:${index}`, type: 'Bike' }));
  const env = {
    PURGE_MAX_RUNNING: '1',
    PURGE_BATCH_SIZE: '10',
    DATABASE_PATH: join(temporaryFolder(), 'schema.db'),
  };
  const first = await startTestGateway({ ...env, BROKER_URL: held.url });
  const requeued = await submitted(first, 'type=Car');
  const waiting = await submitted(first, 'type=Car&maxPerSecond=1');
  await held.arrived(isDelete, 1);
  const closed = first.gateway.close();
  gate.open();
  await closed;

  const second = await startTestGateway({ ...env, BROKER_URL: other.url });
  // Jobs run in order, and this one would be the third.
  const { id } = await submitted(second, 'type=Bike');
  assert.equal((await ended(second.url, id)).deleted, 5);
  assert.equal(other.entities.count(), 20);
  for (const job of [requeued, waiting]) {
    const cancelled = await second.send('POST', `/api/v2/purges/${job.id}/cancel`);
    assert.equal((cancelled.json() as PurgeRecord).state, 'cancelled');
  }
});
