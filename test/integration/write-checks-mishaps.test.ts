import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { stopAll, type TestGateway } from '../support/gateway-harness.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { car, enforcing, ENTITIES, sending, UnluckyBroker } from '../support/write-mishaps.js';
import { ApiClient } from './api-client.js';

after(stopAll);

describe('checked writes when something goes wrong', () => {
  let broker: UnluckyBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await new UnluckyBroker().start();
    gateway = await enforcing(broker);
  });

  const write = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    gateway.sendJson('POST', ENTITIES, body, headers);

  it('if the broker resets the connection, a checked write is sent only once, and the client gets 502', async () => {
    const before = broker.writes.length;
    const answer = await write(car(1), { 'x-mishap': 'reset' });
    assert.equal(answer.status, 502, answer.text);
    assert.equal(broker.writes.length, before + 1);
  });

  it('an error of the broker reaches the client unchanged, with the verdict', async () => {
    const answer = await write(car(1), { 'x-mishap': 'failure' });
    assert.deepEqual(
      [answer.status, answer.text, answer.headers.get('x-broker'), answer.headers.get('retry-after')],
      [503, 'no', 'mine', '7'],
    );
    assert.equal(answer.headers.get('write-check'), 'valid');
  });

  it('an incomplete answer to a checked write never looks complete', async () => {
    await assert.rejects(write(car(1), { 'x-mishap': 'half' }));
    assert.equal((await write(car(2))).status, 201);
  });

  it('a client that waits for 100 Continue gets it so that its write can be judged, and the broker gets no Expect', async () => {
    for (const [speed, status] of [
      [1, 201],
      ['fast', 400],
    ] as const) {
      const body = JSON.stringify(car(speed));
      const sent = sending(gateway, ENTITIES, body, { expect: '100-continue' });
      const before = broker.writes.length;
      sent.flushHeaders();
      await once(sent, 'continue');
      assert.equal(broker.writes.length, before, 'nothing is sent before it is judged');
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      assert.equal(answer.statusCode, status);
      const last = broker.writes.at(-1);
      if (status === 201) assert.deepEqual([last?.body, last?.headers['expect']], [body, undefined]);
      else assert.equal(broker.writes.length, before);
    }
  });

  it('a client that waits for 100 Continue with a body too large to be judged gets it from the broker', async () => {
    const small = await enforcing(broker, { BODY_LIMIT_BYTES: '2000' });
    const api = await ApiClient.of(small.url);
    await api.put('/write-policies/all', { mode: 'enforce', onUnjudged: 'accept' });
    const body = JSON.stringify(car(1, { load: 'x'.repeat(3000) }));
    const sent = sending(small, ENTITIES, body, { expect: '100-continue' });
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    assert.deepEqual([answer.statusCode, answer.headers['write-check']], [201, 'not-judged']);
    assert.equal(broker.writes.at(-1)?.body, body);
  });

  it('a body that is refused without being read is not requested with 100 Continue', async () => {
    const coded = { 'content-encoding': 'gzip', expect: '100-continue' };
    const sent = sending(gateway, ENTITIES, JSON.stringify(car(1)), coded);
    let continues = 0;
    sent.on('continue', () => (continues += 1)).flushHeaders();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    assert.deepEqual([answer.statusCode, continues], [400, 0]);
  });

  it('if a client disconnects while its write is being judged, nothing is written and queries to the broker stop', async () => {
    const before = broker.writes.length;
    const sent = sending(gateway, `${ENTITIES}/urn:ngsi-ld:Car:slow/attrs`, '{"speed":1}');
    sent.end('{"speed":1}');
    const asked = await broker.until(() => broker.seen.findLast(({ method }) => method === 'GET'));
    sent.destroy();
    await broker.until(() => (asked.isGone ? true : undefined));
    assert.equal((await write(car(3))).status, 201);
    assert.equal(broker.writes.length, before + 1);
  });

  it('if a client disconnects while its write is being forwarded, the request to the broker ends', async () => {
    const body = JSON.stringify(car(4));
    const sent = sending(gateway, ENTITIES, body, { 'x-mishap': 'silence' });
    sent.end(body);
    const passed = await broker.until(() => broker.writes.find((one) => one.body === body));
    sent.destroy();
    await broker.until(() => (passed.isGone ? true : undefined));
  });

  it("a checked write is 504 if the broker does not answer, and a failed check if the broker does not return an entity's type", async () => {
    const hurried = await enforcing(broker, { BROKER_TIMEOUT_MS: '300', RETRY_MAX_ATTEMPTS: '1' });
    const send = (
      method: string,
      path: string,
      body: unknown,
      headers: Readonly<Record<string, string>> = {},
    ) => hurried.sendJson(method, path, body, headers);
    const silent = await send('POST', ENTITIES, car(7), { 'x-mishap': 'silence' });
    assert.deepEqual([silent.status, silent.headers.get('write-check')], [504, null], silent.text);
    const slow = `${ENTITIES}/urn:ngsi-ld:Car:slow/attrs`;
    const failed = await send('PATCH', slow, { speed: 1 });
    assert.equal(failed.status, 503, failed.text);
    assert.match(failed.text, /write-check-failed/);
    await (
      await ApiClient.of(hurried.url)
    ).put('/write-policies/all', { mode: 'enforce', onFailure: 'accept' });
    const open = await send('PATCH', slow, { speed: 1 });
    assert.deepEqual([open.status, open.headers.get('write-check')], [201, 'not-judged'], open.text);
  });

  it('the type of an entity is asked for once more if the broker closes the connection of the first query', async () => {
    const answer = await gateway.sendJson('PATCH', `${ENTITIES}/urn:ngsi-ld:Car:stale/attrs`, { speed: 1 });
    assert.deepEqual([answer.status, answer.headers.get('write-check')], [201, 'valid'], answer.text);
  });

  it('a change of an entity that its client may not read is not judged, and onUnjudged applies', async () => {
    const part = () =>
      gateway.send('PATCH', `${ENTITIES}/urn:ngsi-ld:Car:hidden/attrs`, {
        headers: { 'content-type': 'application/json' },
        body: '{"speed": 1}',
      });
    const refused = await part();
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, /write-not-judged[^]*the broker does not show its entity to this client/);
    const foreign = await gateway.send('POST', ENTITIES, {
      headers: { 'content-type': 'application/ld+json' },
      body: '{"@context": "https://away.example/c", "id": "urn:ngsi-ld:Car:9", "type": "Car"}',
    });
    assert.match(
      foreign.text,
      /refuses it: it cannot be judged: its @context cannot be used: .* origin\. Nothing was sent/,
    );
    const api = await ApiClient.of(gateway.url);
    await api.put('/write-policies/all', { mode: 'enforce', onUnjudged: 'accept' });
    const passed = await part();
    assert.deepEqual([passed.status, passed.headers.get('write-check')], [201, 'not-judged']);
    await api.put('/write-policies/all', { mode: 'enforce', onUnjudged: 'refuse' });
  });
});

it('a broker that does not return the types of entities is not queried for each of hundreds of entities', async () => {
  const broker = await startRecordingBroker(({ method }) => ({ status: method === 'GET' ? 500 : 204 }));
  const gateway = await enforcing(broker);
  const entities = Array.from({ length: 400 }, (_, index) => ({ id: `urn:ngsi-ld:Car:${index}`, speed: 1 }));
  const answer = await gateway.sendJson('POST', '/ngsi-ld/v1/entityOperations/merge', entities);
  assert.ok(answer.status >= 400, answer.text);
  // In this time, hundreds of queries could have been sent.
  for (let index = 0; index < 200; index += 1) await gateway.send('GET', '/ngsi-ld/v1/types');
  const lookups = broker.requests.filter(({ method, url }) => method === 'GET' && url.includes('/entities'));
  assert.ok(lookups.length < 50, String(lookups.length));
});
