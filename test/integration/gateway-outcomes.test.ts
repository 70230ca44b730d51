import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startTestGateway, stopAll, type Answer } from '../support/gateway-harness.js';
import { startKilledBroker } from '../support/killed-broker.js';
import { createTestClock, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';
import { instancesOf, hour, startTemporal } from '../support/temporal-harness.js';

after(stopAll);

const own = (name: string) => `urn:ngsi-ld-gateway:problem:${name}`;

/** Returns the counts in the body of an answer. */
function countsIn(answer: Answer): Readonly<Record<string, unknown>> {
  const { matched, deleted, alreadyGone, failed, unknown } = answer.json() as Readonly<
    Record<string, unknown>
  >;
  return { matched, deleted, alreadyGone, failed, unknown };
}

const settings = { PURGE_CONCURRENCY: '3', RETRY_MAX_ATTEMPTS: '2' };

it('a purge whose broker is killed is 502 with the unknown outcomes, and can be repeated', async (t) => {
  const { broker, unanswered, revive } = await startKilledBroker(t, { entities: things(2000) });
  const gateway = await startTestGateway({ BROKER_URL: broker.url.href, ...settings });
  const ended = await gateway.purge('type=Thing');
  assert.equal(ended.status, 502);
  const problem = ended.problem();
  assert.equal(problem.type, own('broker-unreachable'));
  assert.ok(unanswered.size >= 1500);
  const { deleted, failed, unknown } = problem;
  assert.deepEqual([failed, unknown], [0, unanswered.size]);
  const [line] = gateway.log.with('purge ended early');
  assert.deepEqual(
    [line?.['deleted'], line?.['alreadyGone'], line?.['failed'], line?.['unknown']],
    [deleted, 0, 0, unanswered.size],
  );
  const left = broker.entities.size;
  revive();
  const again = await gateway.purge('type=Thing');
  assert.deepEqual([again.status, again.headers.get('purge-deleted')], [204, String(left)]);
});

it('a purge whose broker is killed before the first delete does not mention deletes', async (t) => {
  let queries = 0;
  const broker = await startStubBroker(t, {
    entities: things(10),
    fault: () => (++queries > 1 ? 'reset-before' : undefined),
  });
  const gateway = await startTestGateway({ BROKER_URL: broker.url.href, ...settings });
  const problem = (await gateway.purge('type=Thing')).problem();
  for (const member of ['deleted', 'failed', 'unknown']) assert.equal(problem[member], undefined);
});

it('a purge whose broker is away for 5 s with 10 deletes in flight waits for it, logs that once, and succeeds', async (t) => {
  const clock = createTestClock();
  let deletes = 0;
  let downUntilMs = 0;
  const broker = await startStubBroker(t, {
    entities: things(300),
    batch: 405,
    fault: ({ kind }) => {
      if (kind === 'single' && ++deletes === 50) downUntilMs = clock.now() + 5000;
      return clock.now() < downUntilMs ? 'reset-before' : undefined;
    },
  });
  const gateway = await startTestGateway(
    {
      BROKER_URL: broker.url.href,
      PURGE_CONCURRENCY: '10',
      BROKER_AWAY_MS: '30000',
      RETRY_MIN_DELAY_MS: '200',
      RETRY_MAX_DELAY_MS: '1000',
    },
    { clock },
  );
  const purged = await gateway.purge('type=Thing', { prefer: 'return=representation' });
  assert.equal(purged.status, 200, purged.text);
  assert.deepEqual(countsIn(purged), { matched: 300, deleted: 300, alreadyGone: 0, failed: 0, unknown: 0 });
  assert.equal(broker.entities.size, 0);
  assert.equal(gateway.log.with('broker away: the purge waits for it').length, 1);
  const [back] = gateway.log.with('broker back: the purge goes on');
  assert.ok(Number(back?.['afterMs']) >= 5000);
});

it('a purge that waits for its broker stops when the gateway is closed: 503 with the unknown outcomes', async (t) => {
  let batches = 0;
  const broker = await startStubBroker(t, {
    entities: things(100),
    fault: ({ kind }) => {
      if (kind === 'batch') batches += 1;
      if (batches === 0) return undefined;
      return kind === 'batch' && batches === 1 ? 'reset-after' : 'reset-before';
    },
  });
  const gateway = await startTestGateway({
    BROKER_URL: broker.url.href,
    PURGE_CONCURRENCY: '1',
    PURGE_BATCH_SIZE: '10',
    BROKER_AWAY_MS: '3600000',
    RETRY_MAX_DELAY_MS: '3600000',
  });
  const running = gateway.purge('type=Thing');
  await gateway.log.until('broker away: the purge waits for it');
  const closed = gateway.gateway.close();
  const stopped = await running;
  assert.equal(stopped.status, 503);
  const problem = stopped.problem();
  assert.deepEqual([problem['deleted'], problem['failed'], problem['unknown']], [0, 0, 10]);
  await closed;
});

it('the counts of an answer separate items deleted by other clients from those that the purge deleted', async (t) => {
  const broker = await startStubBroker(t, {
    entities: things(20),
    fault: ({ kind, ids }, { entities }) => {
      if (kind === 'batch') for (const id of ids.slice(0, 5)) entities.delete(id);
      return undefined;
    },
  });
  const gateway = await startTestGateway({ BROKER_URL: broker.url.href });
  const purged = await gateway.purge('type=Thing');
  assert.equal(purged.status, 204);
  const header = (name: string) => purged.headers.get(name);
  assert.deepEqual(
    ['purge-matched', 'purge-deleted', 'purge-already-gone', 'purge-failed', 'purge-unknown'].map(header),
    ['20', '15', '5', '0', null],
  );
  const [line] = gateway.log.with('purge finished');
  assert.deepEqual([line?.['deleted'], line?.['alreadyGone'], line?.['unknown']], [15, 5, 0]);
});

it('the counts of a 207 include items of unknown outcome', async (t) => {
  // Without n the entity no longer matches q, so no query can show whether n was deleted.
  const lost = 'urn:ngsi-ld:Thing:7';
  const broker = await startStubBroker(t, {
    entities: things(10),
    fault: ({ kind, id }) => (kind === 'attribute' && id === lost ? 'reset-after' : undefined),
  });
  const gateway = await startTestGateway({ BROKER_URL: broker.url.href, RETRY_MAX_ATTEMPTS: '2' });
  const purged = await gateway.purge('type=Thing&q=n%3E=0&drop=n', { prefer: 'return=representation' });
  assert.equal(purged.status, 207);
  assert.deepEqual(countsIn(purged), { matched: 10, deleted: 9, alreadyGone: 0, failed: 0, unknown: 1 });
  assert.equal(purged.headers.get('purge-unknown'), '1');
  const { success, errors } = purged.json() as {
    success: string[];
    errors: { entityId: string; error: { type: string; status: number; attribute: string } }[];
  };
  assert.ok(!success.includes(lost));
  assert.equal(errors.length, 1);
  const [{ entityId, error } = assert.fail()] = errors;
  assert.deepEqual(
    [entityId, error.type, error.status, error.attribute],
    [lost, own('outcome-unknown'), 502, 'n'],
  );
});

it('the counts of an answer include what a read by id finds if the query still shows the entity', async (t) => {
  const rich = things(10).map((thing) => ({ ...thing, m: { type: 'Property', value: 1 } }));
  for (const [fault, deleted, failed] of [
    ['reset-after', 10, 0],
    ['reset-before', 9, 1],
  ] as const) {
    const broker = await startStubBroker(t, {
      entities: rich,
      fault: ({ kind, id }) => (kind === 'attribute' && id?.endsWith(':7') === true ? fault : undefined),
    });
    const gateway = await startTestGateway({ BROKER_URL: broker.url.href, RETRY_MAX_ATTEMPTS: '2' });
    const purged = await gateway.purge('type=Thing&q=n%3E=0&drop=m', { prefer: 'return=representation' });
    assert.deepEqual(countsIn(purged), { matched: 10, deleted, alreadyGone: 0, failed, unknown: 0 });
  }
});

for (const [unit, query, matched] of [
  ['entities', 'type=Sensor', 6],
  ['attributes', 'type=Sensor&attrs=humidity,temperature', 9],
  ['datasets', 'type=Sensor&datasetId=urn:ds:b', 6],
  ['instances', `type=Sensor&timerel=before&timeAt=${hour(8)}`, 72],
] as const) {
  it(`the counts of a temporal purge add up if answers get lost (${unit})`, async () => {
    const { broker, purge } = await startTemporal({
      faultRate: 0.4,
      faultKinds: ['reset-after', 'reset-before', '503'],
      seed: 5,
      faultOn: ({ method }) => method === 'DELETE',
    });
    const before = instancesOf(broker);
    const purged = await purge(query, { headers: { prefer: 'return=representation' } });
    assert.equal(purged.status, 200, purged.text);
    assert.deepEqual(countsIn(purged), { matched, deleted: matched, alreadyGone: 0, failed: 0, unknown: 0 });
    if (unit === 'instances') assert.equal(instancesOf(broker).size, before.size - matched);
  });
}

it('the counts of a temporal purge include what a read by id finds if no answer came', async () => {
  const { broker, gateway } = await startTemporal(
    {
      faultRate: 1,
      faultKinds: ['reset-after'],
      faultOn: ({ method, path }) => method === 'DELETE' && /Sensor(?::|%3A)3$/.test(path),
    },
    { env: { RETRY_MAX_ATTEMPTS: '2' } },
  );
  const purged = await gateway.send('DELETE', '/ngsi-ld/v1/temporal/entities?type=Sensor', {
    headers: { prefer: 'return=representation' },
  });
  assert.equal(purged.status, 200, purged.text);
  assert.deepEqual(countsIn(purged), { matched: 6, deleted: 6, alreadyGone: 0, failed: 0, unknown: 0 });
  assert.equal(broker.temporal.ids().filter((id) => id.includes('Sensor')).length, 0);
});

for (const [what, look, expected] of [
  ['its answer gets lost', undefined, { deleted: 30, failed: 0, unknown: 0 }],
  ['its outcome stays unknown', 'reset-before', { deleted: 0, failed: 0, unknown: 30 }],
] as const) {
  it(`the counts of an answer cover the broker's own purge, also if ${what}`, async (t) => {
    let wasPurged = false;
    const broker = await startStubBroker(t, {
      entities: things(30),
      nativePage: 100,
      fault: ({ kind }) => {
        wasPurged ||= kind === 'collection';
        return kind === 'collection' ? 'reset-after' : wasPurged ? look : undefined;
      },
    });
    const gateway = await startTestGateway({ BROKER_URL: broker.url.href, PURGE_STRATEGY: 'native' });
    const ended = await gateway.purge('type=Thing');
    assert.equal(ended.status, 502);
    const { deleted, failed, unknown } = ended.problem();
    assert.deepEqual({ deleted, failed, unknown }, expected);
  });
}
