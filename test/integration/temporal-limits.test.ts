import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { TooManyMatchesError } from '../../sidecar/purge/index.js';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { purgeHistory } from '../support/purge-harness.js';
import { holdBack, isDelete } from '../support/recording-broker.js';
import {
  deletesOf,
  hour,
  instancesOf,
  seedSensors,
  startTemporal,
  TEMPORAL,
} from '../support/temporal-harness.js';

after(stopAll);

const BEFORE = `type=Sensor&timerel=before&timeAt=${hour(8)}`;

for (const [query, matched] of [
  ['type=Sensor', 6],
  ['type=Sensor&attrs=humidity,temperature', 9],
  ['type=Sensor&datasetId=urn:ds:b', 6],
  [BEFORE, 72],
] as const) {
  for (const [how, behaviour] of [
    ['', {}],
    [', shown in parts', { instancePageSize: 3, maxPageSize: 2 }],
    [', not counted by the broker', { noCount: true }],
  ] as const) {
    it(`the bound of a temporal purge applies before the first delete, in the unit of the purge (${query}${how})`, async () => {
      const broker = await startTestBroker();
      seedSensors(broker);
      Object.assign(broker.behaviour, behaviour);
      const before = instancesOf(broker);
      const place = { url: new URL(broker.url) };
      const { error, progress } = await purgeHistory(place, `${query}&maxAffected=${matched - 1}`);
      assert.ok(error instanceof TooManyMatchesError, String(error));
      assert.deepEqual([error.maxAffected, progress.hasBegun], [matched - 1, false]);
      assert.deepEqual(deletesOf(broker), {});
      assert.deepEqual(instancesOf(broker), before);
      const { report } = await purgeHistory(place, `${query}&maxAffected=${matched}`);
      assert.deepEqual([report?.deleted, report?.failed, report?.unknown], [matched, 0, 0]);
    });
  }
}

it('the bound of a temporal purge can be set by the configuration or the policy', async () => {
  const { purge } = await startTemporal({}, { env: { PURGE_MAX_AFFECTED: '71' } });
  const refused = await purge(BEFORE);
  assert.equal(refused.status, 409);
  const { type, maxAffected, deleted } = refused.problem();
  assert.equal(type, 'urn:ngsi-ld-gateway:problem:too-many-matches');
  assert.deepEqual([maxAffected, deleted], [71, undefined]);
  const { purge: other } = await startTemporal();
  assert.equal((await other(BEFORE, { headers: { 'x-purge-policy': 'max-affected=71' } })).status, 409);
});

it('TEMPORAL_WHOLE_DELETE=refuse forbids purges of whole temporal entities, but not dry runs or purges of parts', async () => {
  const { broker, purge } = await startTemporal({}, { env: { TEMPORAL_WHOLE_DELETE: 'refuse' } });
  const refused = await purge('type=Sensor');
  assert.equal(refused.status, 403);
  assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:forbidden-by-policy');
  assert.match(refused.problem().detail ?? '', /TEMPORAL_WHOLE_DELETE/);
  assert.equal(broker.requests.total, 0);
  assert.equal((await purge('type=Sensor&dryRun=true')).status, 200);
  assert.equal((await purge('type=Sensor&attrs=humidity')).status, 204);
  assert.equal((await purge(BEFORE)).status, 204);
});

it('the policy allow-temporal=?0 forbids all temporal purges, including dry runs, but no purge of entities', async () => {
  const { broker, purge, gateway } = await startTemporal();
  const headers = { 'x-purge-policy': 'allow-temporal=?0' };
  for (const query of [BEFORE, 'type=Sensor', 'type=Sensor&attrs=humidity', `${BEFORE}&dryRun=true`])
    assert.equal((await purge(query, { headers })).status, 403, query);
  assert.equal(broker.requests.total, 0);
  assert.equal((await gateway.purge('type=Sensor', headers)).status, 204);
  const allowed = await purge(BEFORE, { headers: { 'x-purge-policy': 'allow-temporal' } });
  assert.equal(allowed.status, 204);
});

it('the policy dry-run-only forbids all temporal purges except dry runs', async () => {
  const { purge } = await startTemporal();
  const headers = { 'x-purge-policy': 'dry-run-only' };
  assert.equal((await purge(BEFORE, { headers })).status, 403);
  assert.equal((await purge(`${BEFORE}&dryRun=true`, { headers })).status, 200);
});

for (const [how, most, env, headers] of [
  ['16 unless it is set', 16, {}, {}],
  ['TEMPORAL_PURGE_CONCURRENCY', 3, { TEMPORAL_PURGE_CONCURRENCY: '3' }, {}],
  ["the policy's temporal-concurrency", 2, {}, { 'x-purge-policy': 'temporal-concurrency=2' }],
  ['not PURGE_CONCURRENCY', 16, { PURGE_CONCURRENCY: '1' }, { 'x-purge-policy': 'concurrency=1' }],
] as const) {
  it(`the concurrency of a temporal purge is ${how}: no more deletes are in flight`, async () => {
    const { broker } = await startTemporal();
    const { held, gate, peak } = await holdBack(broker);
    const gateway = await startTestGateway({ BROKER_URL: held.url, ...env });
    const purged = gateway.send('DELETE', `${TEMPORAL}?${BEFORE}`, { headers });
    await held.arrived(isDelete, most);
    for (let turn = 0; turn < 3; turn += 1) await gateway.send('GET', '/health/ready');
    gate.open();
    assert.equal((await purged).status, 204);
    assert.equal(peak(), most);
  });
}

/** Starts a gateway in front of a broker whose deletes wait until a gate opens. */
async function startSlow() {
  const { broker } = await startTemporal();
  const { held: slow, gate } = await holdBack(broker);
  const gateway = await startTestGateway({ BROKER_URL: slow.url, TEMPORAL_PURGE_CONCURRENCY: '4' });
  return { slow, gate, gateway };
}

it('a temporal purge stopped by a shutdown sends no further delete, and its caller gets 503 with the counts', async () => {
  const { slow, gate, gateway } = await startSlow();
  const answer = gateway.send('DELETE', `${TEMPORAL}?${BEFORE}`);
  await slow.arrived(isDelete, 4);
  const closed = gateway.gateway.close();
  gate.open();
  const stopped = await answer;
  assert.equal(stopped.status, 503);
  assert.equal(stopped.problem()['deleted'], 4);
  await closed;
  assert.equal(slow.requests.filter(isDelete).length, 4);
});

it('a temporal purge stopped by a disconnecting client sends no further delete', async () => {
  const { slow, gate, gateway } = await startSlow();
  const caller = new AbortController();
  const answer = gateway.send('DELETE', `${TEMPORAL}?${BEFORE}`, { signal: caller.signal });
  await slow.arrived(isDelete, 4);
  caller.abort();
  await assert.rejects(answer);
  for (let turn = 0; turn < 3; turn += 1) await gateway.send('GET', '/health/ready');
  gate.open();
  const line = await gateway.log.until('purge stopped: its caller is gone');
  assert.deepEqual([line['deleted'], typeof line['durationMs']], [4, 'number']);
  assert.equal(slow.requests.filter(isDelete).length, 4);
});
