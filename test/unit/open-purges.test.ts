import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { PurgeFailedError } from '../../sidecar/jobs/errors.js';
import { openPurges, type OpenPurges } from '../../sidecar/open-purges.js';
import type { BrokerReply } from '../../sidecar/purge/broker/exchange.js';
import type { BrokerRequest } from '../../sidecar/purge/broker/client.js';
import { RequestAbortedError } from '../../sidecar/purge/broker/errors.js';
import { PurgeStoppedError, TooManyPurgesError } from '../../sidecar/purge/errors.js';
import { RunUnderWayError } from '../../sidecar/schemas/store/errors.js';
import type { RetentionPolicies, RetentionPolicy } from '../../sidecar/schemas/store/retention-records.js';
import { loadConfig } from '../../sidecar/shared/config/load.js';
import { KeptPurges } from '../support/kept-purges.js';
import { createTestClock } from '../support/purge-harness.js';

const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;
const EMPTY: BrokerReply = {
  status: 200,
  headers: new Map([['ngsild-results-count', '0']]),
  body: '[]',
};

const opened: OpenPurges[] = [];

const turns = async () => {
  for (let index = 0; index < 30; index += 1) await turn();
};

const order = (query = 'type=T', headers: Readonly<Record<string, string>> = {}) => ({
  ...{ target: 'entities' as const, query, policy: {}, caller: 'c', requestId: 'r', headers },
});

/** The purges of a gateway with these settings, and what they ask of all around them. Its broker is empty unless it says otherwise. */
function purgesOf(env: Readonly<Record<string, string>> = {}, brokerUrl = 'http://orion:1026') {
  const config = loadConfig({ BROKER_URL: 'http://orion:1026', DATABASE_PATH: ':memory:', ...env });
  const kept = new KeptPurges();
  const [told, metered]: [string[], string[]] = [[], []];
  const state = {
    answer: (async () => EMPTY) as (request: BrokerRequest) => Promise<BrokerReply>,
    policies: [] as RetentionPolicy[],
    reads: [] as unknown[],
  };
  const log = (level: string) => (fields: object, message: string) => {
    const { policy, purgeId } = fields as { policy?: string; purgeId?: string };
    told.push([level, policy ?? '', policy === undefined ? '' : (purgeId ?? ''), message].join(' '));
  };
  const logger = {
    ...{ debug: log('debug'), warn: log('warn'), error: log('error') },
    info: (fields: object | string, message?: string) =>
      typeof fields === 'string' ? told.push(`info ${fields}`) : log('info')(fields, message ?? ''),
  } as unknown as FastifyBaseLogger;
  const purges = openPurges(config, {
    client: { send: (request) => state.answer(request), close: async () => {} },
    brokerUrl: new URL(brokerUrl),
    store: kept.store,
    policies: {
      enabled: async () => state.policies,
      claim: async (name: string) => {
        state.policies = state.policies.filter((policy) => policy.name !== name);
        return true;
      },
    } as unknown as RetentionPolicies,
    brokerNotes: {
      read: async (...given) => {
        state.reads.push(given);
        return { nowMs: Date.now(), notes: [] };
      },
      write: async () => {},
    },
    ...{ clock: createTestClock(), random: () => 0, logger },
    metrics: {
      started: (target) => metered.push(`started ${target}`),
      ended: (target, outcome) => metered.push(`ended ${target} ${outcome}`),
      retried: () => metered.push('retried'),
      recordLost: () => metered.push('lost'),
    },
  });
  opened.push(purges);
  const given = (name: string) => kept.calls.filter((call) => call.name === name).map((call) => call.given);
  return { purges, kept, told, metered, state, given };
}

/** A policy that was due all the time. */
const policy = (name: string): RetentionPolicy => ({
  name,
  settings: {
    ...{ target: 'entities', query: 'type=T', olderThan: 'P1D', by: 'modifiedAt', schedule: '* * * * *' },
    ...{ timeZone: 'UTC', maxGrowth: 3, mode: 'report', enabled: true },
  },
  author: { caller: 'ada', policy: {} },
  ...{ doneUntil: 0, createdAt: 0, modifiedAt: 0, etag: 'e' },
});

/** Settings of a gateway on a file of SQLite. */
async function onFile(t: TestContext): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(join(tmpdir(), 'open-purges-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return { DATABASE_PATH: join(folder, 'schema.db') };
}

describe('the purges of a gateway', () => {
  afterEach(async () => {
    for (const purges of opened.splice(0)) {
      purges.stop();
      await purges.close();
    }
  });

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
      [
        { DATABASE_URL: 'postgres://db/x' },
        'http://127.0.0.1:1026',
        `http://127.0.0.1:1026 on ${hostname()}`,
      ],
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
    await assert.rejects(
      purges.service.run(order(), NEVER),
      ({ cause }) => cause instanceof TooManyPurgesError,
    );
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

  it('what another process has done is looked at: its jobs, or its notes about the broker', async () => {
    const { purges, state, given } = purgesOf();
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

  it('a run of a retention policy that could not begin is logged, at level info where the last one has not ended', async () => {
    const { purges, state, told } = purgesOf();
    state.policies = [policy('busy'), policy('broken')];
    purges.retention.runScheduled = async ({ name }) => {
      throw name === 'busy' ? new RunUnderWayError(name, 'p1') : new Error('no');
    };
    purges.start();
    await turns();
    assert.deepEqual(
      told.filter((line) => line.includes('retention')),
      [
        'info busy p1 retention: left out, the last run has not ended',
        'warn broken  retention: a run could not begin',
      ],
    );
  });
});

describe('the end of the purges of a gateway', () => {
  it('a gateway that stops takes no new purges, interrupts those whose callers wait, and begins no more runs', async () => {
    const { purges, state } = purgesOf();
    state.answer = ({ signal }) =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new RequestAbortedError('aborted')), { once: true }),
      );
    const ended = purges.service.run(order(), NEVER).catch((error: unknown) => error);
    await turns();
    purges.start();
    purges.stop();
    const error = await ended;
    assert.ok(error instanceof PurgeFailedError);
    assert.equal(error.record?.state, 'interrupted');
    await assert.rejects(purges.service.submit(order()), PurgeStoppedError);
    await assert.rejects(
      purges.service.run(order(), NEVER),
      ({ cause }) => cause instanceof PurgeStoppedError,
    );
    state.policies = [policy('late')];
    await purges.close();
    assert.equal(state.policies.length, 1);
  });

  it('the run that is being begun is waited for before the records are closed', async () => {
    const { purges, state } = purgesOf();
    state.policies = [policy('a')];
    const order: string[] = [];
    let begin = () => {};
    const isBegun = new Promise<void>((resolve) => (begin = resolve));
    purges.retention.runScheduled = async () => {
      await isBegun;
      order.push('run');
      return {} as never;
    };
    const close = purges.service.close.bind(purges.service);
    purges.service.close = async () => {
      order.push('closed');
      await close();
    };
    purges.start();
    await turns();
    const closed = purges.close();
    await turns();
    assert.deepEqual(order, []);
    begin();
    await closed;
    assert.deepEqual(order, ['run', 'closed']);
  });

  it('recorded ids are kept beside the database, and go with a gateway that keeps nothing', async (t) => {
    for (const isLasting of [true, false]) {
      const env = isLasting ? await onFile(t) : {};
      const { purges, state } = purgesOf(env);
      const car = JSON.stringify([{ id: 'urn:ngsi-ld:T:1', type: 'T' }]);
      let isGone = false;
      state.answer = async ({ method, path }) => {
        if (method !== 'GET') {
          isGone = true;
          return { ...EMPTY, status: 204, body: '' };
        }
        const isThere = !isGone && path.includes('type=T');
        const count = new Map([['ngsild-results-count', isThere ? '1' : '0']]);
        return { status: 200, headers: count, body: isThere ? car : '[]' };
      };
      const { record } = await purges.service.run(order('type=T&record=ids'), NEVER);
      const folders = isLasting
        ? [join(env['DATABASE_PATH'] ?? '', '..', 'purge-ids')]
        : (await readdir(tmpdir())).map((name) => join(tmpdir(), name));
      const file = folders
        .map((folder) => join(folder, `${record.id}.ndjson`))
        .find((path) => existsSync(path));
      assert.ok(file !== undefined);
      purges.stop();
      await purges.close();
      assert.equal(existsSync(dirname(file)), isLasting);
    }
  });
});
