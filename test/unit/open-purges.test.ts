import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { afterEach, it } from 'node:test';
import { RunUnderWayError } from '../../sidecar/store/errors.js';
import {
  closeOpened,
  EMPTY,
  NEVER,
  order,
  policy,
  purgesOf,
  turns,
  unanswered,
} from '../support/opened-purges.js';

afterEach(closeOpened);

it('each start of a gateway has its own name for leases, and the name of its machine and port in records', async () => {
  const holders = new Set<unknown>();
  for (const { purges, given } of [purgesOf(), purgesOf()]) {
    assert.equal((await purges.service.submit(order())).worker, `${hostname()}:8080`);
    for (const [taken] of given('take') as [{ holder: string; broker: string }][]) {
      assert.equal(taken.broker, 'http://orion:1026');
      holders.add(taken.holder);
    }
  }
  assert.equal(holders.size, 2);
});

const SHARED = { DATABASE_URL: 'postgres://db/x' };

for (const [what, env, url, broker] of [
  [
    'in a file, whatever its machine is called',
    {},
    'http://127.0.0.1:1026',
    'http://127.0.0.1:1026 on this machine',
  ],
  [
    'with its machine on a shared database',
    SHARED,
    'http://127.0.0.1:1026/',
    `http://127.0.0.1:1026 on ${hostname()}`,
  ],
  [
    'by any address of its machine',
    SHARED,
    'http://localhost:1026',
    `http://localhost:1026 on ${hostname()}`,
  ],
  ['by one of IPv6', SHARED, 'http://[::1]:1026', `http://[::1]:1026 on ${hostname()}`],
  ['that is embedded, whatever its port', { BROKER_URL: 'embedded' }, 'http://127.0.0.1:1026', 'embedded'],
  [
    'elsewhere, without credentials',
    SHARED,
    'https://me:secret@Broker.example/a/b/?x=1',
    'https://broker.example/a/b',
  ],
  ['elsewhere, in a file', {}, 'http://me:secret@orion:1026/broker/', 'http://orion:1026/broker'],
] as const)
  it(`a job is bound to its broker, ${what}`, async () => {
    const { purges, given } = purgesOf(env, url);
    await purges.service.submit(order());
    assert.equal(given('add')[0]?.[3], broker);
  });

it('a job whose credentials were encrypted with an earlier secret continues after the secret was replaced', async () => {
  const [former, next] = ['a'.repeat(32), 'b'.repeat(32)];
  const before = purgesOf({ JOB_SECRET: former });
  before.state.answer = unanswered;
  await before.purges.service.submit(order('type=T', { authorization: 'Bearer b' }));
  await before.purges.close();
  const after = purgesOf({ JOB_SECRET: `${next},${former}` }, undefined, before.kept);
  const sent: unknown[] = [];
  after.state.answer = async ({ headers }) => {
    sent.push(headers?.['authorization']);
    return EMPTY;
  };
  after.purges.start();
  await turns();
  assert.ok(sent.length > 0);
  assert.ok(sent.every((credentials) => credentials === 'Bearer b'));
});

it('purges are counted and logged with their target and their outcome', async () => {
  const { purges, metered, told, state } = purgesOf();
  await purges.service.run(order(), NEVER);
  await purges.service.run({ ...order(), target: 'temporal' }, NEVER);
  await purges.service.run(order('type=T&limit=5'), NEVER).catch(() => {});
  assert.deepEqual(metered, [
    'started entities',
    'ended entities succeeded',
    'started temporal',
    'ended temporal succeeded',
    'ended entities refused',
  ]);
  assert.deepEqual(
    told.map((line) => line.replace(/ +/g, ' ')),
    [
      'info purge started',
      'info purge finished',
      'info purge started',
      'info purge finished',
      'info purge refused',
    ],
  );
  metered.length = 0;
  let failures = 2;
  state.answer = async () => ((failures -= 1) >= 0 ? { ...EMPTY, status: 503 } : EMPTY);
  await purges.service.run(order(), NEVER);
  assert.deepEqual(metered, ['started entities', 'retried', 'retried', 'ended entities succeeded']);
});

it('an unavailable store of records is logged once, and a record that is lost at the end is logged and counted', async () => {
  const { purges, kept, told, metered } = purgesOf();
  kept.isAway = true;
  await purges.service.run(order(), NEVER);
  await turns();
  await purges.close();
  const lines = told.map((line) => line.replace(/ +/g, ' '));
  assert.equal(
    lines.filter((line) => line === 'warn the database is not available: jobs and their records wait for it')
      .length,
    1,
  );
  assert.equal(lines.filter((line) => line === 'error record of a purge lost').length, 1);
  assert.equal(metered.filter((line) => line === 'lost').length, 1);
});

it('the log says when the store of records is available again', async () => {
  const { purges, kept, told } = purgesOf();
  kept.isAway = true;
  await purges.service.run(order(), NEVER);
  kept.isAway = false;
  await purges.service.run(order(), NEVER);
  await purges.close();
  assert.ok(
    told.some((line) => /^info +the database is available again: records are written$/.test(line)),
    told.join(),
  );
});

it('a notice from another process makes the gateway take its job', async () => {
  const { purges, given } = purgesOf(SHARED);
  purges.jobs.onNotice({ what: 'waiting', id: 'a' });
  await turns();
  assert.equal(given('take').length, 1);
});

it('a run of a retention policy that could not start is counted and logged, at level info if the previous run has not ended', async () => {
  const { purges, state, told, metered } = purgesOf();
  state.policies = [policy('busy'), policy('broken')];
  purges.retention.runScheduled = async ({ name }) => {
    throw name === 'busy' ? new RunUnderWayError(name, 'p1') : new Error('no');
  };
  purges.start();
  await turns();
  assert.deepEqual(
    told.filter((line) => line.includes('retention')),
    [
      'info busy p1 retention: run skipped, because the previous one has not ended',
      'warn broken  retention: a run could not begin',
    ],
  );
  assert.deepEqual(metered, ['ran busy skipped', 'ran broken not_begun']);
});

it('a job that another gateway has taken over is released, and the log says so', async (t) => {
  const { purges, kept, state, told } = purgesOf(SHARED);
  state.answer = unanswered;
  await purges.service.submit(order());
  await turns();
  const laterMs = Date.now() + 60_000;
  t.mock.method(Date, 'now', () => laterMs);
  const taken = await kept.store.take({
    holder: 'another',
    leaseMs: 30_000,
    broker: 'http://orion:1026',
    takesJobs: true,
    takesDryRuns: true,
    takesScans: true,
    takesLapsed: true,
  });
  assert.ok(taken !== undefined);
  purges.jobs.onNotice({ what: 'waiting', id: taken.record.id });
  await turns();
  assert.ok(
    told.some((line) => /^warn +purge left to another gateway, which has taken it$/.test(line)),
    told.join(),
  );
});

it('leases of jobs are renewed only if the database is shared', async () => {
  for (const [env, isShared] of [
    [SHARED, true],
    [{}, false],
  ] as const) {
    const { purges, state, given } = purgesOf(env);
    state.answer = unanswered;
    await purges.service.submit(order());
    await turns();
    purges.jobs.onNotice({ what: 'waiting', id: 'a' });
    await turns();
    assert.equal(given('renew').length > 0, isShared);
  }
});

it('the log reports jobs that wait for a broker other than that of the gateway', async () => {
  const { purges, kept, state } = purgesOf();
  state.answer = unanswered;
  await purges.service.submit(order());
  await turns();
  purges.stop();
  await purges.close();
  const other = purgesOf({}, 'http://scorpio:1026', kept);
  other.purges.start();
  await turns();
  assert.deepEqual(
    other.told.filter((line) => line.startsWith('warn')).map((line) => line.replace(/ +/g, ' ')),
    ['warn jobs wait for a broker other than the one that BROKER_URL names'],
  );
});
