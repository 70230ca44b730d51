import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import pLimit from 'p-limit';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { send, sendJson, stopAll } from '../support/gateway-harness.js';
import { PostgresServer } from '../support/postgres.js';
import { Gate } from '../support/recording-broker.js';
import { eventsAt, recordAt, Sidecars, submit, until } from '../support/sidecars.js';
import { entitiesOf, everyKind, withoutSystemTimes } from '../support/undo.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const PATIENCE = { timeout: 300_000 };
const NAMES = ['one', 'two', 'three'];

/** Entities are deleted one by one, so that a purge takes a while. */
const SLOWLY = { PURGE_STRATEGY: 'single', PURGE_CONCURRENCY: '2' };

/** For sidecars that lose their leases. */
const BRIEFLY = { ...SLOWLY, JOB_LEASE_MS: '2000' };

const isOver = ({ endedAt }: PurgeRecord) => endedAt !== undefined;

function assertTrueCounts(record: PurgeRecord): void {
  const { state, matched, deleted, alreadyGone, failed, unknown } = record;
  const settled = deleted + alreadyGone + failed + unknown;
  // A cancelled purge leaves matches alone.
  if (state === 'cancelled') assert.ok(settled <= matched);
  else assert.equal(settled, matched);
}

/** Starts a job for that many entities and waits until the broker has seen that many deletes. */
async function underWay(sidecars: Sidecars, type: string, { entities = 150, seen = 15 } = {}) {
  const { broker, all } = sidecars;
  const [first] = all;
  assert.ok(first !== undefined);
  broker.delayMs = 20;
  broker.seed(type, entities);
  const { id } = await submit(first, `type=${type}`, { 'x-request-id': type });
  const count = () => broker.deletes.filter(({ requestId }) => requestId === type).length;
  await until(count, (deletes) => deletes >= seen);
  const { worker } = await until(
    () => recordAt(first, id),
    ({ state }) => state === 'running',
  );
  return { id, worker, count };
}

/** Returns the number of purges running at the gateways, by their metrics. */
async function runningAt({ all }: Sidecars): Promise<number> {
  const metrics = await Promise.all(all.map(({ url }) => send(url, 'GET', '/metrics')));
  const running = metrics.map(({ text }) => /^\w+_purges_running (\d+)$/m.exec(text)?.[1]);
  return running.reduce((sum, each) => sum + Number(each), 0);
}

describe('three sidecars on one PostgreSQL', PATIENCE, () => {
  let sidecars: Sidecars;
  before(async () => {
    sidecars = await Sidecars.start(NAMES, SLOWLY);
  });

  it('a job is shown, followed, throttled and cancelled through the sidecars that do not run it', async () => {
    const { id, worker } = await underWay(sidecars, 'Shown', { entities: 1000 });
    const [other, third] = sidecars.others(worker);
    assert.ok(other !== undefined && third !== undefined);
    const events = await eventsAt(other, id);
    const deleted = (await recordAt(third, id)).deleted;
    await until(
      () => recordAt(third, id),
      (record) => record.deleted > deleted,
    );
    const change = await sendJson(other.url, 'PATCH', `/api/v2/purges/${id}`, {
      maxPerSecond: 3,
      concurrency: 99,
    });
    assert.equal(change.status, 200, change.text);
    const { maxPerSecond, concurrency } = change.json() as PurgeRecord;
    assert.deepEqual([maxPerSecond, concurrency], [3, 2]);
    await until(
      () => recordAt(sidecars.named(worker), id),
      (record) => record.maxPerSecond === 3,
    );
    await until(
      () => recordAt(third, id),
      (record) => record.maxPerSecond === 3,
    );
    await until(
      () => events.records,
      (records) => records.length > 1 && records.some(({ maxPerSecond }) => maxPerSecond === 3),
    );
    const cancelled = await send(third.url, 'POST', `/api/v2/purges/${id}/cancel`);
    assert.deepEqual([cancelled.status, (cancelled.json() as PurgeRecord).state], [202, 'cancelling']);
    await events.ended;
    const last = events.records.at(-1);
    assert.ok(last !== undefined);
    assert.deepEqual([last.state, last.worker], ['cancelled', worker]);
    assert.ok(events.records.some(({ state }) => state === 'running'));
    await until(() => recordAt(third, id), isOver);
    assert.deepEqual(await recordAt(third, id), last);
    assertTrueCounts(last);
    const left = sidecars.broker.broker.entities.count();
    assert.ok(left > 0);
    assert.equal((await send(other.url, 'POST', `/api/v2/purges/${id}/cancel`)).status, 202);
    const late = await sendJson(other.url, 'PATCH', `/api/v2/purges/${id}`, { maxPerSecond: 3 });
    assert.equal(late.status, 409, late.text);
    assert.equal(sidecars.broker.broker.entities.count(), left);
  });

  it('a purge with a waiting caller can be cancelled through another sidecar, and its caller is told', async () => {
    const { broker, all } = sidecars;
    const [one, two] = all;
    assert.ok(one !== undefined && two !== undefined);
    broker.seed('Waited', 250);
    const answer = send(one.url, 'DELETE', '/ngsi-ld/v1/entities?type=Waited');
    const running = await until(
      async () =>
        (await send(two.url, 'GET', '/api/v2/purges?state=running')).json() as readonly PurgeRecord[],
      ({ length }) => length === 1,
    );
    await send(two.url, 'POST', `/api/v2/purges/${running[0]?.id ?? ''}/cancel`);
    assert.equal((await answer).status, 503);
    // The record is written at the same time as the answer.
    const last = await until(() => recordAt(two, running[0]?.id ?? ''), isOver);
    assert.equal(last.state, 'cancelled');
  });

  it('each job of ten tenants is done once, by all sidecars together', async () => {
    const { broker, all } = sidecars;
    broker.delayMs = 0;
    const jobs = Array.from({ length: 60 }, (_, n) => ({
      type: `Job${String(n)}`,
      tenant: `t${String(n % 10)}`,
    }));
    for (const { type, tenant } of jobs) broker.seed(type, 3, tenant);
    // More jobs at once than a sidecar has connections, but few enough that none waits long for a
    // connection.
    const ids = await pLimit(30).map(jobs, async ({ type, tenant }, n) => {
      const sidecar = all[n % all.length];
      assert.ok(sidecar !== undefined);
      const headers = { 'x-request-id': type, 'ngsild-tenant': tenant };
      return (await submit(sidecar, `type=${type}`, headers)).id;
    });
    const workers = new Set<string>();
    for (const [n, id] of ids.entries()) {
      const sidecar = all[(n + 1) % all.length];
      assert.ok(sidecar !== undefined);
      const record = await until(() => recordAt(sidecar, id), isOver);
      assert.deepEqual([record.state, record.deleted, record.warnings], ['succeeded', 3, []]);
      workers.add(record.worker);
    }
    for (const { type } of jobs) assert.equal(broker.sendersOf(type).length, 1, type);
    assert.deepEqual([...workers].sort(), NAMES.toSorted());
    assert.deepEqual(broker.overlaps, []);
    for (let tenant = 0; tenant < 10; tenant += 1)
      assert.equal(broker.broker.entities.count(`t${String(tenant)}`), 0);
  });
});

describe('two sidecars, one of which stops responding for longer than its lease', PATIENCE, () => {
  let sidecars: Sidecars;
  before(async () => {
    const folder = temporaryFolder();
    const env = { ...BRIEFLY, ARCHIVE_URL: pathToFileURL(folder).href, PURGE_BATCH_SIZE: '20' };
    sidecars = await Sidecars.start(['one', 'two'], env, { isApart: true });
  });

  it('a sidecar that was stopped for longer than its lease sends no further delete, and another one finishes its job', async () => {
    const { broker } = sidecars;
    const { id, worker } = await underWay(sidecars, 'Stopped', { entities: 220 });
    const stopped = sidecars.named(worker);
    const [other] = sidecars.others(worker);
    assert.ok(other !== undefined);
    sidecars.processOf(worker).signal('SIGSTOP');
    await until(
      () => broker.sendersOf('Stopped'),
      (senders) => senders.length === 2,
    );
    const [late] = broker.sendersOf('Stopped');
    sidecars.processOf(worker).signal('SIGCONT');
    // The stopped sidecar continues with everything else.
    assert.equal((await send(stopped.url, 'GET', '/health/live')).status, 200);
    const last = await until(() => recordAt(other, id), isOver);
    assert.equal(last.state, 'succeeded');
    assert.notEqual(last.worker, worker);
    assert.match(last.warnings.join(), new RegExp(`The gateway ${worker} stopped responding`));
    assertTrueCounts(last);
    const senders = broker.sendersOf('Stopped');
    // On a very busy machine, the lease of another sidecar may end as well; each takeover is
    // recorded as a warning.
    const changes = last.warnings.filter((warning) => warning.includes(' stopped responding'));
    assert.equal(
      senders.length,
      1 + changes.length,
      'it sent nothing afterwards: ' + JSON.stringify([last.warnings, senders]),
    );
    assert.notEqual(late, senders.at(-1));
    assert.equal(broker.overlaps.includes('Stopped'), false);
    await until(() => recordAt(stopped, id), isOver);
    assert.deepEqual(await recordAt(stopped, id), last);
  });

  it('when a sidecar is killed, a purge with a waiting caller is interrupted, and a job continues elsewhere', async () => {
    const { broker } = sidecars;
    const { id, worker } = await underWay(sidecars, 'Killed', { entities: 220 });
    const killed = sidecars.named(worker);
    const [other] = sidecars.others(worker);
    assert.ok(other !== undefined);
    broker.seed('Sync', 250);
    const waiting = send(killed.url, 'DELETE', '/ngsi-ld/v1/entities?type=Sync').catch(() => undefined);
    const running = await until(
      async () =>
        (await send(other.url, 'GET', '/api/v2/purges?state=running')).json() as readonly PurgeRecord[],
      ({ length }) => length === 2,
    );
    sidecars.processOf(worker).signal('SIGKILL');
    await waiting;
    const last = await until(() => recordAt(other, id), isOver);
    assert.equal(last.state, 'succeeded');
    assert.notEqual(last.worker, worker);
    assertTrueCounts(last);
    assert.equal(broker.sendersOf('Killed').length, 2);
    const sync = running.find((each) => each.id !== id);
    const interrupted = await until(() => recordAt(other, sync?.id ?? ''), isOver);
    assert.deepEqual([interrupted.state, interrupted.worker], ['interrupted', worker]);
    await sidecars.revive(worker);
  });

  it('a restore whose sidecar is killed is finished by another one, and restores everything once', async () => {
    const { broker, all } = sidecars;
    const [first] = all;
    assert.ok(first !== undefined);
    broker.delayMs = 0;
    // Entities with datasets would be created one by one.
    broker.broker.entities.seed(60, (index) => ({
      ...everyKind(index),
      speed: { type: 'Property', value: index / 7 },
    }));
    const cars = withoutSystemTimes(await entitiesOf(broker.broker, 'type=Car'));
    const purge = await submit(first, 'type=Car&archive=required');
    await until(() => recordAt(first, purge.id), isOver);

    const begun = new Gate();
    let id = '';
    const killed: string[] = [];
    let creates = 0;
    // The second of three batches is created, but its sidecar never learns of it.
    broker.onCarriedOut = async ({ url }) => {
      if (!url.endsWith('/entityOperations/create')) return;
      creates += 1;
      if (creates !== 2) return;
      await begun.passed;
      const { worker } = await recordAt(first, id);
      await sidecars.kill(worker);
      killed.push(worker);
    };
    const taken = await sendJson(first.url, 'POST', `/api/v2/purges/${purge.id}/restore`, {});
    ({ id } = taken.json() as PurgeRecord);
    begun.open();
    await until(
      () => killed,
      ({ length }) => length === 1,
    );
    const [other] = sidecars.others(killed[0] ?? '');
    assert.ok(other !== undefined);
    const last = await until(() => recordAt(other, id), isOver);
    const { state, matched, restored, alreadyThere, failed, unknown, worker } = last;
    assert.deepEqual(
      [state, matched, restored, alreadyThere, failed, unknown],
      ['succeeded', 60, 60, 0, 0, 0],
    );
    assert.notEqual(worker, killed[0]);
    assert.equal(creates, 3);
    assert.deepEqual(withoutSystemTimes(await entitiesOf(broker.broker, 'type=Car')), cars);
  });
});

describe('two sidecars on one PostgreSQL, with a place for one purge each', PATIENCE, () => {
  it('a waiting job is changed and cancelled through any sidecar', async () => {
    const sidecars = await Sidecars.start(['one', 'two'], { ...SLOWLY, PURGE_MAX_RUNNING: '1' });
    const [one, two] = sidecars.all;
    assert.ok(one !== undefined && two !== undefined);
    const running = [await underWay(sidecars, 'First', { entities: 1000 })];
    running.push(await underWay(sidecars, 'Second', { entities: 1000 }));
    assert.deepEqual(running.map(({ worker }) => worker).sort(), ['one', 'two']);
    sidecars.broker.seed('Third', 5);
    const { id } = await submit(one, 'type=Third');
    for (const sidecar of [two, one]) {
      const rate: number = sidecar === two ? 7 : 8;
      const change = await sendJson(sidecar.url, 'PATCH', `/api/v2/purges/${id}`, { maxPerSecond: rate });
      assert.equal(change.status, 200, change.text);
      for (const other of sidecars.all) {
        const { state, maxPerSecond } = await recordAt(other, id);
        assert.deepEqual([state, maxPerSecond], ['queued', rate]);
      }
    }
    const cancelled = await send(two.url, 'POST', `/api/v2/purges/${id}/cancel`);
    assert.equal((cancelled.json() as PurgeRecord).state, 'cancelled');
    for (const each of running) await send(two.url, 'POST', `/api/v2/purges/${each.id}/cancel`);
    for (const each of running) await until(() => recordAt(one, each.id), isOver);
    assert.equal(sidecars.broker.sendersOf('Third').length, 0);
    assert.equal((await recordAt(one, id)).state, 'cancelled');
  });
});

describe('two sidecars whose PostgreSQL is restarted', PATIENCE, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(async () => {
    await stopAll();
    await server.close();
  });

  it('a job stops when its lease ends during a restart of PostgreSQL, and is resumed once afterwards', async () => {
    const sidecars = await Sidecars.start(['one', 'two'], BRIEFLY, { server: server.url });
    const { broker } = sidecars;
    const { id, count } = await underWay(sidecars, 'Restarted', { entities: 340 });
    await server.stop();
    // Nothing can renew the lease, so no gateway works on the job once the lease has ended.
    await until(
      () => runningAt(sidecars),
      (running) => running === 0,
    );
    const deletes = count();
    assert.ok(broker.broker.entities.count() > 0, 'the job was not done before its lease was over');
    const [one] = sidecars.all;
    assert.ok(one !== undefined);
    for (let asked = 0; asked < 20; asked++)
      assert.equal((await send(one.url, 'GET', '/health/ready')).status, 503);
    assert.equal(count(), deletes, 'a delete came after the job had stopped');
    await server.restart();
    const isBack = async () => (await send(one.url, 'GET', '/health/ready')).status === 200;
    await until(isBack, Boolean);
    const last = await until(() => recordAt(one, id), isOver);
    assert.equal(last.state, 'succeeded', JSON.stringify(last));
    assertTrueCounts(last);
    assert.deepEqual([broker.broker.entities.count(), broker.overlaps], [0, []]);
    assert.ok(broker.sendersOf('Restarted').length <= 2);
  });
});
