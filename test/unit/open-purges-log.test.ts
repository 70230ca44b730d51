import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeOpened, EMPTY, NEVER, order, purgesOf, turns, unanswered } from '../support/opened-purges.js';

const SHARED = { DATABASE_URL: 'postgres://db/x' };

afterEach(closeOpened);

it('a job that another gateway has taken over is left, and the log says so', async (t) => {
  const { purges, kept, state, told } = purgesOf(SHARED);
  state.answer = unanswered;
  await purges.service.submit(order());
  await turns();
  const laterMs = Date.now() + 60_000;
  t.mock.method(Date, 'now', () => laterMs);
  const taken = await kept.store.take({
    ...{ holder: 'another', leaseMs: 30_000, broker: 'http://orion:1026' },
    ...{ takesJobs: true, takesDryRuns: true, takesScans: true, takesLapsed: true },
  });
  assert.ok(taken !== undefined);
  purges.noticed({ what: 'waiting', id: taken.record.id });
  await turns();
  assert.ok(
    told.some((line) => /^warn +purge left: another gateway has it$/.test(line)),
    told.join(),
  );
});

it('jobs are held against other gateways on the same database alone', async () => {
  for (const [env, isShared] of [
    [SHARED, true],
    [{}, false],
  ] as const) {
    const { purges, state, given } = purgesOf(env);
    state.answer = unanswered;
    await purges.service.submit(order());
    await turns();
    purges.noticed({ what: 'waiting', id: 'a' });
    await turns();
    assert.equal(given('renew').length > 0, isShared);
  }
});

it('the log tells of jobs that wait for another broker than that of the gateway', async () => {
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
    ['warn jobs wait for another broker than BROKER_URL names'],
  );
});

it('the log tells of a purge that waits for its broker, and of the broker that is back', async () => {
  const { purges, state, told } = purgesOf();
  let failures = 0;
  let isGone = false;
  state.answer = async ({ method, path }) => {
    if (method !== 'GET' && failures === 0) failures = 9;
    if (failures > 1) {
      failures -= 1;
      return { ...EMPTY, status: 503 };
    }
    if (method !== 'GET') {
      isGone = true;
      return { ...EMPTY, status: 204, body: '' };
    }
    const isThere = !isGone && path.includes('type=T') && !path.includes('PurgeProbe');
    const headers = new Map([['ngsild-results-count', isThere ? '1' : '0']]);
    return { status: 200, headers, body: isThere ? '[{"id":"urn:ngsi-ld:T:1","type":"T"}]' : '[]' };
  };
  await purges.service.run(order(), NEVER);
  assert.deepEqual(
    told.map((line) => line.replace(/ +/g, ' ')),
    [
      ...['info purge started', 'warn broker away: the purge waits for it'],
      ...['info broker back: the purge goes on', 'info purge finished'],
    ],
  );
});
