import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import Database from 'better-sqlite3';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { holdBack, startRecordingBroker } from '../support/recording-broker.js';
import { column } from '../support/columns.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilTrue } from '../support/waiting.js';

after(stopAll);

const POLICY = {
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P90D',
  by: 'speed.observedAt',
  schedule: '0 3 * * *',
};
const OLD = '2020-01-01T00:00:00Z';

const car = (observedAt: string) => (index: number) => ({
  id: `urn:ngsi-ld:Car:${observedAt.slice(0, 4)}:${String(index)}`,
  type: 'Car',
  speed: { type: 'Property', value: index, observedAt },
});

interface Listed {
  readonly lastRun?: Partial<PurgeRecord>;
}

type Sender = Pick<TestGateway, 'send' | 'sendJson'>;

async function put(gateway: Sender, name: string, change: object = {}, headers = {}) {
  return gateway.sendJson('PUT', `/api/v2/retention-policies/${name}`, { ...POLICY, ...change }, headers);
}

/** Runs a policy and waits for the end of the run. */
async function run(
  gateway: Sender & Pick<TestGateway, 'url'>,
  name: string,
  headers = {},
): Promise<PurgeRecord> {
  const answer = await gateway.send('POST', `/api/v2/retention-policies/${name}/run`, { headers });
  assert.equal(answer.status, 202, answer.text);
  const { id } = answer.json() as PurgeRecord;
  return ended(gateway, id);
}

async function ended(gateway: Sender, id: string): Promise<PurgeRecord> {
  await gateway.send('GET', `/api/v2/purges/${id}/events`);
  return (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;
}

it('a retention policy has defaults that delete nothing, and can be replaced with its ETag, listed and deleted', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const made = await put(gateway, 'old-cars');
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get('location'), `${gateway.url}/api/v2/retention-policies/old-cars`);
  const { createdAt, modifiedAt, ...body } = made.json() as Record<string, unknown>;
  assert.deepEqual(body, {
    name: 'old-cars',
    ...POLICY,
    timeZone: 'UTC',
    maxGrowth: 3,
    mode: 'report',
    enabled: true,
    caller: 'anonymous',
  });
  // The members that the client sent come first.
  assert.deepEqual(Object.keys(body).slice(0, 6), ['name', ...Object.keys(POLICY)]);
  assert.equal(createdAt, modifiedAt);
  const etag = made.headers.get('etag') ?? '';
  assert.equal((await put(gateway, 'old-cars', { mode: 'enforce' }, { 'if-match': '"other"' })).status, 412);
  assert.equal((await put(gateway, 'old-cars', {}, { 'if-none-match': '*' })).status, 412);
  const changed = await put(gateway, 'old-cars', { mode: 'enforce' }, { 'if-match': etag });
  assert.equal(changed.status, 200, changed.text);
  assert.notEqual(changed.headers.get('etag'), etag);
  assert.equal((await put(gateway, 'a', { name: 'b' })).status, 400);
  const list = await gateway.send('GET', '/api/v2/retention-policies');
  assert.deepEqual(column(list.json() as { name: string }[], 'name'), ['old-cars']);
  assert.deepEqual(column(list.json() as { lastRun?: object }[], 'lastRun'), [undefined]);
  assert.equal((await gateway.send('DELETE', '/api/v2/retention-policies/old-cars')).status, 204);
  assert.equal((await gateway.send('GET', '/api/v2/retention-policies/old-cars')).status, 404);
});

it('a retention policy that could never run is refused with the name of the invalid member', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  for (const [change, parameter] of [
    [{ olderThan: 'a while' }, 'olderThan'],
    [{ olderThan: 'P0D' }, 'olderThan'],
    [{ by: 'observedAt' }, 'by'],
    [{ by: 'a|b' }, 'by'],
    [{ target: 'temporal', by: 'speed' }, 'by'],
    [{ schedule: 'daily' }, 'schedule'],
    [{ schedule: '0 0 30 2 *' }, 'schedule'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ link: 'https://models.example/c.jsonld' }, 'Link'],
    [{ query: 'type=Car&limit=5' }, 'limit'],
    [{ query: 'type=Car&maxAffected=5' }, 'query'],
    [{ query: 'type=Car&q=a)|(b' }, 'q'],
    [{ query: 'id=urn:a:1', by: 'modifiedAt' }, undefined],
    [{ query: 'local=true', by: 'modifiedAt', mode: 'enforce' }, 'maxAffected'],
  ] as const) {
    const answer = await put(gateway, 'wrong', change);
    assert.equal(answer.status, 400, `${JSON.stringify(change)} ${answer.text}`);
    assert.equal(answer.problem()['parameter'], parameter, answer.text);
  }
  for (const change of [
    { maxGrowth: -1 },
    { mode: 'both' },
    { olderthan: 'P1D' },
    { query: 7 },
    { tenant: '' },
  ])
    assert.equal((await put(gateway, 'wrong', change)).status, 422, JSON.stringify(change));
  assert.equal((await gateway.send('GET', '/api/v2/retention-policies/wrong')).status, 404);
});

it('all faults in the settings of a policy are reported together, each with its member', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const pointers = async (change: object) => {
    const { errors } = (await put(gateway, 'wrong', change)).problem() as { errors?: { pointer: string }[] };
    return column(errors ?? [], 'pointer');
  };
  const wrong = { timeZone: 'Mars', schedule: 'daily', olderThan: 'P0D', by: 'observedAt', query: 'limit=5' };
  assert.deepEqual(await pointers(wrong), ['/timeZone', '/schedule', '/olderThan', '/by', '/query']);
  assert.deepEqual(await pointers({ query: 'type=Car&q=a)|(b', by: 'a|b' }), ['/by', '/query']);
  const tenant = { query: 'local=true', by: 'modifiedAt', mode: 'enforce' };
  assert.deepEqual(await pointers(tenant), ['/maxAffected']);
  assert.deepEqual(await pointers({ link: 'https://c.example/c' }), ['/link']);
  assert.deepEqual(await pointers({ archive: 'required', mode: 'enforce' }), ['/archive']);
});

it('a policy with record=ids can be created, previewed, enforced and set back to report', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, car(OLD));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const recording = { query: 'type=Car&record=ids' };
  const path = '/api/v2/retention-policies/listed';
  for (const mode of ['report', 'enforce', 'report']) {
    const stored = await put(gateway, 'listed', { ...recording, mode });
    assert.ok(stored.status < 300, stored.text);
    const { matched } = (await gateway.send('GET', `${path}/preview`)).json() as { readonly matched: number };
    assert.equal(matched, 3);
  }
  assert.equal((await put(gateway, 'listed', { query: 'type=Car&record=all' })).status, 400);
});

it('settings that are not saved can be previewed like those of a policy, and are refused as by a PUT', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(7, car(OLD));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const preview = async (settings: object) =>
    gateway.sendJson('POST', '/api/v2/retention-policies/preview', settings);
  const found = (await preview(POLICY)).json() as Record<string, unknown>;
  assert.deepEqual(
    [found['matched'], String(found['query']).slice(0, 27)],
    [7, 'type=Car&q=speed.observedAt'],
  );
  assert.equal((await preview({ ...POLICY, by: 'observedAt' })).problem()['parameter'], 'by');
  assert.deepEqual((await gateway.send('GET', '/api/v2/retention-policies')).json(), []);
  // The usual number of matches is known only for a policy that has run.
  await put(gateway, 'old-cars', { query: 'type=Nothing' });
  await run(gateway, 'old-cars');
  assert.equal(
    ((await preview({ ...POLICY, name: 'old-cars' })).json() as { reportAbove: number }).reportAbove,
    0,
  );
  assert.equal((await preview({ ...POLICY, name: 'other' })).status, 200);
});

it('a retention policy previews and reports its matches, and deletes them only in mode enforce', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(7, car(OLD));
  broker.entities.seed(5, car(new Date().toISOString()));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await put(gateway, 'old-cars');
  const preview = await gateway.send('GET', '/api/v2/retention-policies/old-cars/preview');
  const { matched, sample, cutoff, query } = preview.json() as Record<string, unknown>;
  assert.equal(matched, 7);
  assert.equal((sample as unknown[]).length, 7);
  assert.equal(query, `type=Car&q=speed.observedAt%3C${String(cutoff)}`);
  const report = await run(gateway, 'old-cars');
  assert.deepEqual([report.state, report.dryRun, report.matched, report.deleted], ['succeeded', true, 7, 0]);
  assert.equal(report.retentionPolicy, 'old-cars');
  await put(gateway, 'old-cars', { mode: 'enforce' });
  const done = await run(gateway, 'old-cars');
  assert.deepEqual([done.state, done.dryRun, done.deleted], ['succeeded', false, 7]);
  const [{ lastRun } = {}] = (await gateway.send('GET', '/api/v2/retention-policies')).json() as Listed[];
  const { id, state, dryRun, matched: matches, deleted, createdAt } = done;
  assert.deepEqual(lastRun, { id, state, dryRun, matched: matches, deleted, createdAt });
  assert.equal(broker.entities.count(), 5);
  const runs = await gateway.send('GET', '/api/v2/retention-policies/old-cars/runs');
  assert.deepEqual(column(runs.json() as PurgeRecord[], 'id'), [done.id, report.id]);
  assert.equal(runs.headers.get('x-total-count'), '2');
});

it('the preview of a retention policy names its record, even if the broker refuses it', async () => {
  const type = 'https://uri.etsi.org/ngsi-ld/errors/NonexistentTenant';
  let isRefused = false;
  const broker = await startRecordingBroker(() =>
    isRefused
      ? { status: 404, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type }) }
      : { status: 200, headers: { 'content-type': 'application/json' }, body: '[]' },
  );
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await put(gateway, 'old-cars');
  for (const [status, state] of [
    [200, 'succeeded'],
    [502, 'failed'],
  ] as const) {
    isRefused = status === 502;
    const preview = await gateway.send('GET', '/api/v2/retention-policies/old-cars/preview');
    assert.equal(preview.status, status, preview.text);
    const record = await ended(gateway, preview.headers.get('purge-id') ?? '');
    assert.deepEqual([record.state, record.dryRun], [state, true]);
  }
});

it('the preview of a retention policy gives the unit of its count if it does not count entities', async () => {
  const broker = await startTestBroker();
  const speed = [1, 2].map((value) => ({ type: 'Property', value, observedAt: OLD }));
  broker.temporal.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car', speed }));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await put(gateway, 'history', { target: 'temporal', by: 'observedAt' });
  const preview = (await gateway.send('GET', '/api/v2/retention-policies/history/preview')).json();
  const { matched, unit } = preview as Record<string, unknown>;
  assert.deepEqual([matched, unit], [6, 'instances']);
});

it('a retention run that matches far more than the last ones deletes nothing, and says so, until the policy allows it', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(2, car(OLD));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await put(gateway, 'old-cars', { mode: 'enforce' });
  assert.equal((await run(gateway, 'old-cars')).deleted, 2);
  broker.entities.seed(7, car(OLD));
  // This stays so however often it runs: its own reports do not make the number usual.
  for (let night = 0; night < 6; night += 1) {
    const guarded = await run(gateway, 'old-cars');
    assert.deepEqual(
      [guarded.state, guarded.dryRun, guarded.matched, guarded.deleted],
      ['succeeded', true, 7, 0],
    );
    assert.match(guarded.warnings.join(), /more than the 6 that its retention policy allows/);
  }
  assert.equal(broker.entities.count(), 7);
  const preview = (await gateway.send('GET', '/api/v2/retention-policies/old-cars/preview')).json();
  assert.equal((preview as { reportAbove?: number }).reportAbove, 6);
  await put(gateway, 'old-cars', { mode: 'enforce', maxGrowth: 0 });
  assert.equal((await run(gateway, 'old-cars')).deleted, 7);
});

it('a retention policy has only one run at a time', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(4, car(OLD));
  const { held, gate } = await holdBack(broker);
  const gateway = await startTestGateway({ BROKER_URL: held.url });
  await put(gateway, 'old-cars', { mode: 'enforce' });
  const start = () => gateway.send('POST', '/api/v2/retention-policies/old-cars/run');
  const answers = await Promise.all([start(), start(), start()]);
  const begun = answers.filter(({ status }) => status === 202);
  const [first] = begun;
  assert.ok(first && begun.length === 1);
  const { id } = first.json() as PurgeRecord;
  for (const answer of answers.filter((one) => !begun.includes(one))) {
    assert.equal(answer.status, 409);
    assert.equal(answer.problem()['purge'], id);
  }
  gate.open();
  await ended(gateway, id);
  assert.equal((await start()).status, 202);
});

it('a run of a retention policy with an outdated ETag is refused', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const path = '/api/v2/retention-policies/old-cars';
  const made = await put(gateway, 'old-cars', {});
  const etag = made.headers.get('etag') ?? '';
  const changed = await put(gateway, 'old-cars', { mode: 'enforce' });
  const run = (tag: string) => gateway.send('POST', `${path}/run`, { headers: { 'if-match': tag } });
  const refused = await run(etag);
  assert.equal(refused.status, 412);
  assert.deepEqual((await gateway.send('GET', `${path}/runs`)).json(), []);
  assert.equal((await run(changed.headers.get('etag') ?? '')).status, 202);
});

it('a retention policy purges only its own tenant, and refuses tenant headers', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, car(OLD));
  broker.entities.seed(3, car(OLD), 'north');
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await put(gateway, 'north', { mode: 'enforce', tenant: 'north' });
  for (const header of ['NGSILD-Tenant', 'Fiware-Service', 'Link']) {
    const headers = { [header]: header === 'Link' ? '<http://a.example/c.jsonld>' : 'south' };
    const answer = await gateway.send('POST', '/api/v2/retention-policies/north/run', { headers });
    assert.equal(answer.status, 400, answer.text);
    for (const change of [{ tenant: 'north' }, {}]) {
      const stored = await put(gateway, 'other', change, headers);
      assert.equal(stored.status, 400, stored.text);
      assert.match(stored.problem().detail ?? '', /leave the header \S+ out/);
    }
  }
  assert.equal((await gateway.send('GET', '/api/v2/retention-policies/other')).status, 404);
  const done = await run(gateway, 'north');
  assert.deepEqual([done.tenant, done.deleted], ['north', 3]);
  assert.deepEqual([broker.entities.count(), broker.entities.count('north')], [3, 0]);
});

it("a retention run respects the X-Purge-Policy of the policy's author and that of the caller who starts it", async () => {
  const broker = await startTestBroker();
  broker.entities.seed(5, car(OLD));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const enforce = { mode: 'enforce' };
  assert.equal((await put(gateway, 'a', enforce, { 'x-purge-policy': 'dry-run-only' })).status, 403);
  assert.equal((await put(gateway, 'a', enforce, { 'x-purge-policy': 'max-affected=4' })).status, 201);
  const refused = await run(gateway, 'a');
  assert.deepEqual([refused.state, refused.problem?.status, refused.deleted], ['refused', 409, 0]);
  assert.equal((await put(gateway, 'b', enforce)).status, 201);
  const narrower = await run(gateway, 'b', { 'x-purge-policy': 'max-affected=2' });
  assert.deepEqual([narrower.state, narrower.policy], ['refused', { maxAffected: 2 }]);
  const dry = await gateway.send('POST', '/api/v2/retention-policies/b/run', {
    headers: { 'x-purge-policy': 'dry-run-only' },
  });
  assert.equal(dry.status, 403);
  assert.equal(broker.entities.count(), 5);
  assert.equal((await run(gateway, 'b')).deleted, 5);
});

it('retention policies need the token for every operation, if there is one', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-policies' });
  const headers = { 'x-gateway-token': 'token-of-policies' };
  assert.equal((await put(gateway, 'a')).status, 401);
  assert.equal((await put(gateway, 'a', {}, headers)).status, 201);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/a'],
    ['GET', '/a/preview'],
    ['GET', '/a/runs'],
    ['POST', '/a/run'],
    ['DELETE', '/a'],
  ] as const)
    assert.equal(
      (await gateway.send(method, `/api/v2/retention-policies${path}`)).status,
      401,
      `${method} ${path}`,
    );
});

it('a retention policy runs by itself when it is due, and once for all runs that were missed', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, car(OLD));
  const folder = temporaryFolder();
  const env = { BROKER_URL: broker.url, DATABASE_PATH: join(folder, 'schema.db') };
  const first = await startTestGateway(env);
  await put(first, 'old-cars', { mode: 'enforce' });
  await put(first, 'disabled', { mode: 'enforce', enabled: false });
  await first.gateway.close();
  const db = new Database(env.DATABASE_PATH);
  db.prepare('UPDATE retention_policy SET done_until = done_until - ?').run(10 * 86_400_000);
  db.close();
  const second = await startTestGateway(env);
  let runs: PurgeRecord[] = [];
  await untilTrue(async () => {
    runs = (await second.send('GET', '/api/v2/retention-policies/old-cars/runs')).json() as PurgeRecord[];
    return runs.length > 0;
  });
  assert.equal(runs.length, 1);
  assert.equal((await ended(second, runs[0]?.id ?? '')).deleted, 3);
  assert.deepEqual((await second.send('GET', '/api/v2/retention-policies/disabled/runs')).json(), []);
  assert.equal(broker.entities.count(), 0);
});

it('a retention policy for temporal entities deletes the instances older than its age', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const instance = (observedAt: string) => ({ type: 'Property', value: 1, observedAt });
  const created = await gateway.sendJson('POST', '/ngsi-ld/v1/temporal/entities', {
    id: 'urn:ngsi-ld:Car:1',
    type: 'Car',
    speed: [instance(OLD), instance('2020-01-02T00:00:00Z'), instance(new Date().toISOString())],
  });
  assert.equal(created.status, 201, created.text);
  await put(gateway, 'readings', { target: 'temporal', by: 'observedAt', olderThan: 'P1Y', mode: 'enforce' });
  const done = await run(gateway, 'readings');
  assert.deepEqual([done.unit, done.deleted], ['instances', 2]);
});
