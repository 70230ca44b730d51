import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { stopAll } from '../support/gateway-harness.js';
import { recordAt, Sidecars, submit, until } from '../support/sidecars.js';

after(stopAll);

const NAMES = ['one', 'two', 'three'];
const ENTITIES = 200_000;
const KILLS = 3;
const JOBS = 1000;
const TENANTS = 10;

const isOver = ({ endedAt }: PurgeRecord) => endedAt !== undefined;

/** Returns the longest time between two deletes, in milliseconds. */
function longestPauseMs(sidecars: Sidecars): number {
  const times = sidecars.broker.deletes.map(({ atMs }) => atMs);
  return Math.max(...times.map((atMs, index) => atMs - (times[index - 1] ?? atMs)));
}

it('a purge of 200,000 entities deletes every match and has one record with correct counts, although its sidecar is killed three times', async (t) => {
  // The default lease, as in production.
  const sidecars = await Sidecars.start(NAMES, {}, { isApart: true });
  const { broker } = sidecars;
  broker.seed('Car', ENTITIES);
  broker.seed('Bus', 100);
  broker.delayMs = 100;
  const [first] = sidecars.all;
  assert.ok(first !== undefined);
  const { id } = await submit(first, 'type=Car');
  const killed: string[] = [];
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const watcher = sidecars.others(killed.at(-1) ?? '')[0];
    assert.ok(watcher !== undefined);
    const before = broker.deletes.length;
    await until(
      () => broker.deletes.length,
      (deletes) => deletes >= before + 40,
    );
    const { worker } = await until(
      () => recordAt(watcher, id),
      (record) => record.state === 'running' && record.worker !== killed.at(-1),
    );
    await sidecars.kill(worker);
    await sidecars.revive(worker);
    killed.push(worker);
  }
  const [last] = sidecars.others(killed.at(-1) ?? '');
  assert.ok(last !== undefined);
  const record = await until(() => recordAt(last, id), isOver);
  const { state, matched, deleted, alreadyGone, failed, unknown, warnings } = record;
  t.diagnostic(
    `killed ${killed.join(', ')}; longest pause ${String(Math.round(longestPauseMs(sidecars)))} ms`,
  );
  t.diagnostic(JSON.stringify({ state, matched, deleted, alreadyGone, failed, unknown, warnings }));
  assert.deepEqual([broker.broker.entities.count(), broker.overlaps], [100, []]);
  assert.ok(longestPauseMs(sidecars) < 60_000);
  assert.deepEqual([failed, unknown], [0, 0]);
  assert.equal(matched, deleted + alreadyGone);
  // Deletes that a killed process could not record are reported by their number.
  const missing = warnings.map((warning) => Number(/^(\d+) of the matches/.exec(warning)?.[1] ?? 0));
  assert.equal(matched + missing.reduce((sum, count) => sum + count, 0), ENTITIES);
  assert.equal(warnings.filter((warning) => warning.includes(' stopped responding')).length, KILLS);
  assert.deepEqual(await sidecars.database.query('SELECT count(*)::int AS count FROM job'), [{ count: 1 }]);
});

it('each of a thousand jobs of ten tenants is done once, in turns of the tenants, by all sidecars together', async (t) => {
  const sidecars = await Sidecars.start(NAMES, {}, { isApart: true });
  const { broker, all } = sidecars;
  const jobs = Array.from({ length: JOBS }, (_, n) => ({
    type: `Job${String(n)}`,
    tenant: `t${String(n % TENANTS)}`,
  }));
  for (const { type, tenant } of jobs) broker.seed(type, 5, tenant);
  const startedMs = performance.now();
  const ids: string[] = [];
  for (const [n, { type, tenant }] of jobs.entries()) {
    const sidecar = all[n % all.length];
    assert.ok(sidecar !== undefined);
    const { id } = await submit(sidecar, `type=${type}`, { 'x-request-id': type, 'ngsild-tenant': tenant });
    ids.push(id);
  }
  const workers = new Map<string, number>();
  for (const [n, id] of ids.entries()) {
    const sidecar = all[(n + 1) % all.length];
    assert.ok(sidecar !== undefined);
    const { state, deleted, warnings, worker } = await until(() => recordAt(sidecar, id), isOver);
    assert.deepEqual([state, deleted, warnings], ['succeeded', 5, []]);
    workers.set(worker, (workers.get(worker) ?? 0) + 1);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  t.diagnostic(
    `${(JOBS / seconds).toFixed(0)} jobs a second; ${JSON.stringify(Object.fromEntries(workers))}`,
  );
  for (const { type } of jobs) assert.equal(broker.sendersOf(type).length, 1, type);
  assert.deepEqual([...workers.keys()].sort(), NAMES.toSorted());
  assert.deepEqual(broker.overlaps, []);
  for (let tenant = 0; tenant < TENANTS; tenant += 1)
    assert.equal(broker.broker.entities.count(`t${String(tenant)}`), 0);
});
