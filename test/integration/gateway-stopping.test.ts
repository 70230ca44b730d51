import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { systemClock, type Clock } from '../../sidecar/shared/clock.js';
import { startTestBroker, startTestGateway, stopAll, stopLater } from '../support/gateway-harness.js';
import {
  Gate,
  holdBack,
  isDelete,
  type RecordingBroker,
  relayTo,
  startRecordingBroker,
} from '../support/recording-broker.js';
import { closeAll, connect } from './pass-through-wire.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(async () => {
  await closeAll();
  await stopAll();
});

interface SlowBroker {
  readonly broker: EmbeddedBroker;
  readonly slow: RecordingBroker;
  /** Deletes wait until this gate opens. */
  readonly gate: Gate;
}

/** Starts a broker with 30 cars whose deletes wait for the test. */
async function startSlowBroker(): Promise<SlowBroker> {
  const broker = await startTestBroker();
  broker.entities.seed(30, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const { held: slow, gate } = await holdBack(broker);
  return { broker, slow, gate };
}

const SETTINGS = { PURGE_BATCH_SIZE: '5', PURGE_CONCURRENCY: '2' };
const GONE = 'purge stopped: its caller is gone';

for (const how of ['ends the connection', 'resets the connection'] as const) {
  it(`a purge whose caller disconnects (${how}) sends no further delete, and deletes in flight finish`, async () => {
    const { broker, slow, gate } = await startSlowBroker();
    const gateway = await startTestGateway({ ...SETTINGS, BROKER_URL: slow.url });
    const caller = await connect(gateway.port);
    caller.send('DELETE /ngsi-ld/v1/entities?type=Car HTTP/1.1\r\nHost: g\r\n\r\n');
    await slow.arrived(isDelete, 2);
    if (how === 'ends the connection') caller.socket.destroy();
    else caller.socket.resetAndDestroy();
    // The deletes are released only once the gateway has seen the disconnect; later requests show
    // that it has.
    for (let turn = 0; turn < 3; turn += 1) await gateway.send('GET', '/health/ready');
    gate.open();
    const line = await gateway.log.until(GONE);
    assert.equal(slow.requests.filter(isDelete).length, 2);
    assert.equal(line['deleted'], 10);
    assert.equal(broker.entities.count(), 20);
    assert.deepEqual(gateway.log.with('purge finished'), []);
  });
}

it('a purge whose caller disconnects during the listing requests no further page', async () => {
  const gate = new Gate();
  const slow = await startRecordingBroker(async () =>
    gate.passed.then(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '[]' })),
  );
  const gateway = await startTestGateway({ ...SETTINGS, BROKER_URL: slow.url });
  const caller = await connect(gateway.port);
  caller.send('DELETE /ngsi-ld/v1/entities?type=Car HTTP/1.1\r\nHost: g\r\n\r\n');
  await slow.arrived(() => true);
  caller.socket.destroy();
  const line = await gateway.log.until(GONE);
  assert.equal(line['requests'], 1);
  assert.equal(slow.requests.length, 1);
  gate.open();
});

const GRACE_MS = 3_600_000;
/** Ends a test whose broker does not do what the test waits for. */
const PATIENCE = { timeout: 300_000 };

/**
 * A clock with real pauses, except that the grace time ends when the test says so; later pauses are
 * recorded.
 */
function clockOfGrace() {
  const over = new Gate();
  const afterwards: number[] = [];
  const clock: Clock = {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs(),
    sleep: (ms, signal) => {
      if (ms !== GRACE_MS) {
        if (clockOf.isOver) afterwards.push(ms);
        return systemClock.sleep(ms, signal);
      }
      return new Promise((resolve, reject) => {
        void over.passed.then(resolve);
        const ended = () => reject(new Error('ended'));
        signal?.addEventListener('abort', ended, { once: true });
      });
    },
  };
  const clockOf = {
    clock,
    afterwards,
    isOver: false,
    end: () => {
      clockOf.isOver = true;
      over.open();
    },
  };
  return clockOf;
}

/**
 * Starts a gateway with a running purge: its first ten deletes are done, and ten more wait at the
 * broker.
 */
async function startWithDeletesInFlight(query: string, headers: Readonly<Record<string, string>> = {}) {
  const broker = await startTestBroker();
  broker.entities.seed(30, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const relay = relayTo(broker);
  const gate = new Gate();
  let deletes = 0;
  const hanging = await startRecordingBroker(async (request) => {
    if (isDelete(request) && ++deletes > 2) await gate.passed;
    return relay(request);
  });
  stopLater(async () => gate.open());
  const env = {
    ...SETTINGS,
    BROKER_URL: hanging.url,
    SHUTDOWN_GRACE_MS: String(GRACE_MS),
    DATABASE_PATH: join(temporaryFolder(), 'schema.db'),
  };
  const grace = clockOfGrace();
  const gateway = await startTestGateway(env, { clock: grace.clock });
  const answer = gateway.purge(query, headers);
  await hanging.arrived(isDelete, 4);
  return { broker, hanging, gate, env, grace, gateway, answer };
}

/**
 * Returns the records of the purges in a database, newest first, as a gateway started on it shows
 * them.
 */
async function recordsAfter(env: Readonly<Record<string, string>> & { readonly BROKER_URL: string }) {
  const gateway = await startTestGateway(env);
  const records = (await gateway.send('GET', '/api/v2/purges')).json() as readonly PurgeRecord[];
  return { gateway, records };
}

for (const how of ['the grace time is over', 'a second signal skips the rest of it'] as const) {
  it(`a gateway whose grace time ends with deletes in flight (${how}) answers the caller, and stores the record and the ids`, async () => {
    const { env, grace, gateway, answer } = await startWithDeletesInFlight('type=Car&record=ids');
    const closed = gateway.gateway.close();
    if (how === 'the grace time is over') grace.end();
    else void gateway.gateway.close();
    const stopped = await answer;
    assert.equal(stopped.status, 503);
    const { type, deleted, failed, unknown } = stopped.problem() as unknown as Record<string, unknown>;
    assert.equal(type, 'urn:ngsi-ld-gateway:problem:shutting-down');
    assert.deepEqual([deleted, failed, unknown], [10, 0, 10]);
    await closed;

    const after = await recordsAfter(env);
    const record = after.records[0] ?? assert.fail('nothing is recorded');
    assert.equal(record.id, stopped.headers.get('purge-id'));
    assert.deepEqual(
      [record.state, record.deleted, record.unknown, record.problem?.status, record.warnings],
      ['interrupted', 10, 10, 503, []],
    );
    const ids = await after.gateway.send('GET', `/api/v2/purges/${record.id}/ids`);
    const outcomes = ids.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
    assert.deepEqual(outcomes.toSorted(), [
      ...Array<string>(10).fill('deleted'),
      ...Array<string>(10).fill('unknown'),
    ]);
  });
}

for (const [arrive, what] of [
  [0, 'and the job continues with them'],
  [21, 'and the maximum is respected'],
] as const) {
  it(
    `a gateway whose grace time ends with deletes of a job in flight returns the job to the queue with correct counts, ${what}`,
    PATIENCE,
    async () => {
      const { broker, gate, env, grace, gateway, answer } = await startWithDeletesInFlight(
        'type=Car&maxAffected=30',
        { prefer: 'respond-async' },
      );
      const { id } = (await answer).json() as PurgeRecord;
      const closed = gateway.gateway.close();
      grace.end();
      await closed;
      // The broker completes them nevertheless.
      gate.open();
      while (broker.entities.count() > 10) await new Promise((resolve) => setImmediate(resolve));
      const elsewhere = await recordsAfter({ ...env, BROKER_URL: (await startTestBroker()).url });
      const [queued] = elsewhere.records;
      assert.deepEqual([queued?.state, queued?.deleted, queued?.unknown], ['queued', 10, 10]);
      await elsewhere.gateway.gateway.close();

      // Twenty of the thirty entities that the job may delete are gone.
      broker.entities.seed(arrive, (index) => ({ id: `urn:ngsi-ld:New:${index}`, type: 'Car' }));
      const after = await recordsAfter(env);
      const events = await after.gateway.send('GET', `/api/v2/purges/${id}/events`);
      const last = JSON.parse(events.text.split('data: ').at(-1) ?? '') as PurgeRecord;
      const { state, matched, deleted, unknown, warnings, problem } = last;
      if (arrive === 0) {
        assert.deepEqual([state, matched, deleted, unknown], ['partial', 30, 20, 10], JSON.stringify(last));
        assert.deepEqual(warnings, []);
        assert.equal(broker.entities.count(), 0);
      } else {
        assert.deepEqual([state, problem?.status, deleted], ['failed', 409, 10], JSON.stringify(last));
        assert.equal(problem?.['maxAffected'], 30);
        assert.match(problem.detail ?? '', /of the 30 that .* \(maxAffected\), with up to 20 already used/);
        assert.match(warnings.join(), /^10 of the deletes without an answer/);
        assert.equal(broker.entities.count(), 10 + arrive);
      }
    },
  );
}

it('when the grace time ends, a gateway answers requests that wait for the broker, and closes what is left two seconds later', async () => {
  const broker = await startRecordingBroker(async () => new Promise(() => undefined));
  const grace = clockOfGrace();
  const gateway = await startTestGateway(
    { BROKER_URL: broker.url, SHUTDOWN_GRACE_MS: String(GRACE_MS) },
    { clock: grace.clock },
  );
  const passed = gateway.send('GET', '/ngsi-ld/v1/entities?type=Car');
  await broker.arrived(() => true);
  const upload = await connect(gateway.port);
  upload.send(
    'POST /api/v2/domains HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  );
  const closed = gateway.gateway.close();
  grace.end();
  const answer = await passed;
  assert.equal(answer.status, 503);
  assert.equal(answer.problem().type, 'urn:ngsi-ld-gateway:problem:shutting-down');
  assert.equal(await upload.closed(), '');
  await closed;
  assert.deepEqual(grace.afterwards, [2000, 5000], 'two seconds for answers, and five at most for closing');
});

it('a closing gateway answers a running purge with 503 and its counts, and its deletes in flight finish', async () => {
  const { broker, slow, gate } = await startSlowBroker();
  const gateway = await startTestGateway({ ...SETTINGS, BROKER_URL: slow.url });
  const running = gateway.purge('type=Car');
  await slow.arrived(isDelete, 2);
  const closed = gateway.gateway.close();
  const late = await gateway.purge('type=Car');
  assert.equal(late.status, 503);
  assert.equal(late.problem()['deleted'], undefined, 'nothing had begun');
  const passed = await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car&count=true&limit=1');
  assert.equal(passed.status, 200, 'pass-through goes on');
  gate.open();
  const stopped = await running;
  assert.equal(stopped.status, 503);
  assert.equal(stopped.problem().type, 'urn:ngsi-ld-gateway:problem:shutting-down');
  assert.equal(stopped.problem()['deleted'], 10);
  assert.equal(stopped.problem()['failed'], 0);
  assert.match(stopped.headers.get('retry-after') ?? '', /^\d+$/);
  await closed;
  assert.equal(broker.entities.count(), 20);
  assert.equal(slow.requests.filter(isDelete).length, 2);
  await assert.rejects(fetch(`${gateway.url}/health/live`), 'nobody listens any more');
});

it('a closing gateway waits for a client that reads its answer slowly', async () => {
  const SIZE = 32 * 1024 * 1024;
  const slow = await startRecordingBroker(() => ({
    status: 200,
    headers: { 'content-length': String(SIZE) },
    body: 'x'.repeat(SIZE),
  }));
  const gateway = await startTestGateway({ BROKER_URL: slow.url });
  const client = await connect(gateway.port);
  client.send('GET /ngsi-ld/v1/entities HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n');
  await client.until(/^HTTP\/1\.1 200/);
  client.socket.pause();
  const closed = gateway.gateway.close();
  client.socket.resume();
  const answer = await client.closed();
  assert.equal(answer.length - answer.indexOf('\r\n\r\n') - 4, SIZE);
  await closed;
});

for (const path of ['/health/live', '/ngsi-ld/v1/entities?type=Car'])
  it(`a closing gateway answers a request that has arrived on an idle connection, and then closes the connection (${path})`, async () => {
    const gateway = await startTestGateway({ BROKER_URL: (await startTestBroker()).url });
    const client = await connect(gateway.port);
    client.send('GET /health/live HTTP/1.1\r\nHost: g\r\n\r\n');
    await client.until(/up"\}$/);
    // The request arrives, but the gateway has not read it yet.
    client.send(`GET ${path} HTTP/1.1\r\nHost: g\r\n\r\n`);
    const closed = gateway.gateway.close();
    const [, answer = ''] = (await client.closed()).split(/(?<=up"\})(?=HTTP)/);
    assert.match(answer, /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    await closed;
  });

it('idle connections do not keep the gateway from closing', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, SHUTDOWN_GRACE_MS: '3600000' });
  const idle = await connect(gateway.port);
  const used = await connect(gateway.port);
  used.send('GET /health/live HTTP/1.1\r\nHost: g\r\n\r\n');
  await used.until(/up"\}$/);
  await gateway.gateway.close();
  await Promise.all([idle.closed(), used.closed()]);
});
