import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { afterEach, it } from 'node:test';
import { PurgeFailedError } from '../../sidecar/jobs/errors.js';
import { TooManyPurgesError } from '../../sidecar/purge/index.js';
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

const DAY_MS = 86_400_000;

afterEach(closeOpened);

it('jobs are held by the settings of the gateway: how many wait, for how long they are held, and by whom', async () => {
  const env = { PURGE_MAX_QUEUED: '17', JOB_LEASE_MS: '12345', INSTANCE_NAME: 'north' };
  const { purges, given } = purgesOf(env);
  const { worker } = await purges.service.submit(order());
  assert.equal(worker, 'north');
  const [[, , max, broker] = []] = given('add');
  assert.deepEqual([max, broker], [17, 'http://orion:1026']);
  const [taken] = given('take')[0] as [{ leaseMs: number; broker: string; holder: string }];
  assert.deepEqual([taken.leaseMs, taken.broker], [12_345, 'http://orion:1026']);
  const other = purgesOf();
  assert.equal((await other.purges.service.submit(order())).worker, `${hostname()}:8080`);
  const [[holder] = []] = other.given('take') as [{ holder: string }][];
  assert.notEqual(holder?.holder, taken.holder, 'each start has a name of its own');
});

it('a job is bound to its broker: the embedded one, or its URL with the machine on a shared database', async () => {
  for (const [env, url, broker] of [
    [{}, 'http://127.0.0.1:1026', 'http://127.0.0.1:1026 on this machine'],
    [{ DATABASE_URL: 'postgres://db/x' }, 'http://127.0.0.1:1026', `http://127.0.0.1:1026 on ${hostname()}`],
    [{ BROKER_URL: 'embedded' }, 'http://127.0.0.1:1026', 'embedded'],
  ] as const) {
    const { purges, given } = purgesOf(env, url);
    await purges.service.submit(order());
    assert.equal(given('add')[0]?.[3], broker);
  }
});

it('records are kept for PURGE_HISTORY_DAYS, by the time of day', async () => {
  const { purges, given } = purgesOf({ PURGE_HISTORY_DAYS: '7' });
  purges.start();
  await turns();
  const [before] = given('prune')[0] as [number];
  assert.ok(Math.abs(Date.now() - 7 * DAY_MS - before) < 60_000);
});

it('a purge runs without a record unless PURGE_RECORD=required', async () => {
  for (const [env, runs] of [
    [{}, true],
    [{ PURGE_RECORD: 'required' }, false],
  ] as const) {
    const { purges, kept, state } = purgesOf(env);
    let requests = 0;
    state.answer = async () => {
      requests += 1;
      return EMPTY;
    };
    kept.isAway = true;
    await purges.service.run(order(), NEVER).catch((error: unknown) => {
      assert.ok(error instanceof PurgeFailedError);
    });
    assert.equal(requests > 0, runs);
    kept.isAway = false;
  }
});

it('credentials of jobs are kept with the first of the secrets, and not without any', async () => {
  const bearer = { authorization: 'Bearer b' };
  const sealing = purgesOf({ JOB_SECRET: `${'a'.repeat(32)},${'b'.repeat(32)}` });
  await sealing.purges.service.submit(order('type=T', bearer));
  const [, job] = sealing.given('add')[0] as [unknown, { headers: object; sealedHeaders?: string }];
  assert.deepEqual(job.headers, {});
  assert.equal(typeof job.sealedHeaders, 'string');
  await assert.rejects(purgesOf().purges.service.submit(order('type=T', bearer)), PurgeFailedError);
});

it('a job whose credentials were kept with an earlier secret goes on with them once the secret is replaced', async () => {
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

it('as many purges are at work as PURGE_MAX_RUNNING says', async () => {
  const { purges, state } = purgesOf({ PURGE_MAX_RUNNING: '2' });
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => (answer = resolve));
  state.answer = async () => {
    await isAnswered;
    return EMPTY;
  };
  const running = [1, 2].map(() => purges.service.run(order(), NEVER));
  await turns();
  await assert.rejects(purges.service.run(order(), NEVER), TooManyPurgesError);
  answer();
  await Promise.all(running);
});

it('purges are counted and logged with their target and their outcome', async () => {
  const { purges, metered, told, state } = purgesOf();
  await purges.service.run(order(), NEVER);
  await purges.service.run({ ...order(), target: 'temporal' }, NEVER);
  await purges.service.run(order('type=T&limit=5'), NEVER).catch(() => {});
  assert.deepEqual(metered, [
    ...['started entities', 'ended entities succeeded', 'started temporal', 'ended temporal succeeded'],
    'ended entities refused',
  ]);
  assert.deepEqual(
    told.map((line) => line.replace(/ +/g, ' ')),
    [
      ...['info purge started', 'info purge finished', 'info purge started', 'info purge finished'],
      'info purge refused',
    ],
  );
  metered.length = 0;
  let failures = 2;
  state.answer = async () => ((failures -= 1) >= 0 ? { ...EMPTY, status: 503 } : EMPTY);
  await purges.service.run(order(), NEVER);
  assert.deepEqual(metered, ['started entities', 'retried', 'retried', 'ended entities succeeded']);
});

it('a store of records that fails is logged once, and a record that is lost at the end is logged and counted', async () => {
  const { purges, kept, told, metered } = purgesOf();
  kept.isAway = true;
  await purges.service.run(order(), NEVER);
  await turns();
  await purges.close();
  const lines = told.map((line) => line.replace(/ +/g, ' '));
  assert.equal(lines.filter((line) => line === 'warn records of purges cannot be written').length, 1);
  assert.equal(lines.filter((line) => line === 'error record of a purge lost').length, 1);
  assert.equal(metered.filter((line) => line === 'lost').length, 1);
});

it('a store of records that works again is logged', async () => {
  const { purges, kept, told } = purgesOf();
  kept.isAway = true;
  await purges.service.run(order(), NEVER);
  kept.isAway = false;
  await purges.service.run(order(), NEVER);
  await purges.close();
  assert.ok(
    told.some((line) => /^info +records of purges are written again$/.test(line)),
    told.join(),
  );
});

it('what another process has done is looked at: its jobs, or its notes about the broker', async () => {
  const { purges, state, given } = purgesOf({ DATABASE_URL: 'postgres://db/x' });
  purges.noticed({ what: 'waiting', id: 'a' });
  await turns();
  assert.deepEqual([given('take').length, state.reads.length], [1, 0]);
  purges.start();
  await turns();
  assert.deepEqual(state.reads, [['http://orion:1026', 3_600_000]]);
  assert.deepEqual(
    Object.values(purges.learnt()).map((facts) => facts.size),
    [0, 0],
  );
});

it('a run of a retention policy that could not begin is counted and logged, at level info where the last one has not ended', async () => {
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
      'info busy p1 retention: run skipped, the last one has not ended',
      'warn broken  retention: a run could not begin',
    ],
  );
  assert.deepEqual(metered, ['ran busy skipped', 'ran broken not_begun']);
});
