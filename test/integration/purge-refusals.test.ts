import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerRefusedError, FilterIgnoredError } from '../../sidecar/purge/index.js';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';
import type { StubReply } from '../support/stub-broker-state.js';

const ERRORS = 'https://uri.etsi.org/ngsi-ld/errors/';

/** Answers that end a purge, and the status that the caller receives. */
const FATAL: Readonly<Record<string, readonly [StubReply, number]>> = {
  '401': [{ status: 401, headers: { 'www-authenticate': 'Bearer realm="x"' }, body: '<h1>who?</h1>' }, 401],
  '403': [{ status: 403, body: { title: 'not you' } }, 403],
  NonexistentTenant: [{ status: 404, body: { type: `${ERRORS}NonexistentTenant`, title: 'x' } }, 404],
  NonExistingTenant: [{ status: 404, body: { title: 'NonExistingTenant' } }, 404],
  TenantNotFound: [{ status: 404, body: { type: `${ERRORS}TenantNotFound` } }, 404],
  '"No such tenant"': [{ status: 404, body: { title: 'No such tenant' } }, 404],
};

for (const [name, [answer, status]] of Object.entries(FATAL)) {
  for (const [where, oddities] of [
    ['query', {}],
    ['batch', {}],
    ['single', { batch: 405 }],
  ] as const) {
    it(`a broker's permanent refusal ends a purge at once, and the caller receives its problem: ${name} to a ${where}`, async (t) => {
      const broker = await startStubBroker(t, {
        entities: things(100),
        ...oddities,
        fault: ({ kind }) => (kind === where ? answer : undefined),
      });
      const { error } = await purge(broker, 'type=Thing', { limits: { concurrency: 1 } });
      assert.ok(error instanceof BrokerRefusedError);
      assert.equal(error.problem.status, status);
      assert.equal(error.wwwAuthenticate, answer.headers?.['www-authenticate']);
      assert.equal(broker.of(where).length, 1);
      assert.equal(broker.entities.size, 100);
    });
  }
}

it('a purge that ends with a permanent refusal reports its earlier deletes', async (t) => {
  let batches = 0;
  const broker = await startStubBroker(t, {
    entities: things(100),
    fault: ({ kind }) => (kind === 'batch' && ++batches > 2 ? { status: 403 } : undefined),
  });
  const { error, progress } = await purge(broker, 'type=Thing', {
    limits: { batchSize: 10, concurrency: 1 },
  });
  assert.ok(error instanceof BrokerRefusedError);
  assert.deepEqual([progress.hasBegun, progress.deleted], [true, 20]);
  assert.equal(broker.entities.size, 80);
});

it('a broker that refuses batches and also single deletes ends the purge with the refusal', async (t) => {
  for (const status of [405, 501]) {
    const broker = await startStubBroker(t, {
      entities: things(10),
      batch: 405,
      fault: ({ kind }) => (kind === 'single' ? { status } : undefined),
    });
    const { error } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerRefusedError);
    assert.equal(error.problem.status, status);
  }
});

const unusable: Readonly<Record<string, StubReply>> = {
  'a redirect': { status: 302, headers: { location: '/elsewhere' } },
  'a permanent redirect': { status: 308, headers: { location: '/elsewhere' } },
  'an HTML page': { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>welcome</html>' },
  'an object': { status: 200, body: { entities: [] } },
  'a FeatureCollection': { status: 200, body: { type: 'FeatureCollection', features: [] } },
  'a number': { status: 200, body: 7 },
  'half an array': { status: 200, body: '[{"id":"urn:x"}' },
  'an array of ids': { status: 200, body: ['urn:x'] },
  'no content': { status: 204 },
};
for (const [name, answer] of Object.entries(unusable)) {
  it(`a meaningless answer to a query ends the purge before any delete: ${name}`, async (t) => {
    const broker = await startStubBroker(t, { entities: things(10), fault: () => answer });
    const { error } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerReplyError, String(error));
    assert.equal(broker.requests.length, 1);
  });
}

it('a meaningless answer to a delete is not trusted: entities that are still listed are deleted singly', async (t) => {
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>welcome</html>' };
  const broker = await startStubBroker(t, {
    entities: things(50),
    fault: ({ kind }) => (kind === 'batch' ? page : undefined),
  });
  const report = await purged(broker, 'type=Thing');
  assert.equal(report.deleted, 50);
  assert.equal(broker.entities.size, 0);
});

it('a redirect of a delete is not followed, and ends the purge', async (t) => {
  const broker = await startStubBroker(t, {
    entities: things(50),
    fault: ({ kind }) => (kind === 'batch' ? { status: 307, headers: { location: '/x' } } : undefined),
  });
  const { error } = await purge(broker, 'type=Thing');
  assert.ok(error instanceof BrokerReplyError);
  assert.equal(broker.entities.size, 50);
});

it('an answer to a delete that exceeds the reply limit ends the purge with its counts so far', async (t) => {
  const { createBrokerClient } = await import('../../sidecar/purge/broker/client.js');
  const broker = await startStubBroker(t, {
    entities: things(20),
    fault: ({ kind }) => (kind === 'batch' ? { status: 207, body: 'x'.repeat(20_000) } : undefined),
  });
  const client = createBrokerClient({ brokerUrl: broker.url, timeoutMs: 5000, replyMaxBytes: 10_000 });
  const { error } = await purge(broker, 'type=Thing', { client });
  assert.ok(error instanceof BrokerReplyError);
});

it("a purge reports the broker's warning that some sources did not answer, since it may be incomplete", async (t) => {
  const broker = await startStubBroker(t, {
    entities: things(10),
    queryHeaders: { 'ngsild-warning': '199 broker "no answer from urn:csr:1"' },
  });
  const report = await purged(broker, 'type=Thing');
  assert.equal(report.deleted, 10);
  assert.deepEqual(report.warnings, ['199 broker "no answer from urn:csr:1"']);
});

it('a purge with local=true ends if the broker queried other sources', async (t) => {
  const queryHeaders = { 'ngsild-entitymap': 'urn:ngsi-ld:entitymap:1' };
  for (const query of ['type=Thing&local=true', 'type=*&maxAffected=100']) {
    const broker = await startStubBroker(t, { entities: things(10), queryHeaders });
    const { error } = await purge(broker, query);
    assert.ok(error instanceof FilterIgnoredError);
    assert.equal(error.parameter, 'local');
    assert.equal(broker.entities.size, 10);
  }
  const broker = await startStubBroker(t, { entities: things(10), queryHeaders });
  assert.equal((await purged(broker, 'type=Thing')).deleted, 10);
});
