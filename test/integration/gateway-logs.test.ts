import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, it } from 'node:test';
import {
  startTestBroker,
  startTestGateway,
  stopAll,
  type LogLine,
  type TestGateway,
} from '../support/gateway-harness.js';
import { listening } from '../support/listening.js';
import { holdBack, isDelete } from '../support/recording-broker.js';
import { words } from '../support/words.js';

after(stopAll);

const INFO = 30;
const WARN = 40;
const ERROR = 50;

/** Returns the log lines about purges. */
const purgeLines = (gateway: TestGateway): LogLine[] =>
  gateway.log.lines.filter(({ msg }) => /^purge/.test(msg));

it('the log has one line for each purge: tenant, query, counts, duration, status', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(5, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }), 'north');
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await gateway.purge('type=Car&idPattern=.*%5B0-2%5D$', { 'ngsild-tenant': 'north' });
  const [start, line, ...others] = purgeLines(gateway);
  assert.deepEqual(others, []);
  assert.equal(start?.msg, 'purge started');
  assert.equal(line?.msg, 'purge finished');
  assert.equal(line['caller'], 'anonymous');
  assert.equal(line.level, INFO);
  assert.equal(line['tenant'], 'north');
  assert.equal(line['query'], 'type=Car&idPattern=.*%5B0-2%5D$');
  assert.equal(line['matched'], 3);
  assert.equal(line['deleted'], 3);
  assert.equal(line['failed'], 0);
  assert.equal(line['state'], 'succeeded');
  assert.equal(typeof line['durationMs'], 'number');
  assert.equal(typeof line['reqId'], 'string');

  await gateway.purge('type=Car&dryRun=true', { 'ngsild-tenant': 'north' });
  assert.equal(purgeLines(gateway).length, 4);
  assert.equal(purgeLines(gateway)[3]?.['dryRun'], true);
});

it('the log has one warning, with its cause, for a purge that failed because of the broker', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9', RETRY_MAX_ATTEMPTS: '2' });
  assert.equal((await gateway.purge('type=Car')).status, 502);
  const [, line, ...others] = purgeLines(gateway);
  assert.deepEqual(others, []);
  assert.equal(line?.level, WARN);
  assert.equal(line['status'], 502);
  assert.match(JSON.stringify(line['err']), /ECONNREFUSED/);
  const lines = gateway.log.text.split('\n').filter((text) => text.includes('ECONNREFUSED'));
  assert.equal(lines.length, 1);
});

it('the log has one warning, with its cause, for a forwarded request that failed', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  const headers = { 'x-request-id': 'request-7' };
  await gateway.send('GET', '/ngsi-ld/v1/entities?type=Secret', { headers });
  const [line, ...others] = gateway.log.with('pass-through failed');
  assert.deepEqual(others, []);
  assert.equal(line?.level, WARN);
  assert.deepEqual([line['path'], line['reqId']], ['/ngsi-ld/v1/entities', 'request-7']);
  assert.match(JSON.stringify(line['err']), /ECONNREFUSED/);
});

it('the log has no warnings or errors for requests that are refused because of mistakes of clients', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  await gateway.purge('limit=1');
  await gateway.send('DELETE', '/ngsi-ld/v1//entities?type=Car');
  await gateway.send('GET', '/%zz');
  await gateway.send('POST', '/health/live', { body: '{', headers: { 'content-type': 'application/json' } });
  assert.deepEqual(
    gateway.log.lines.filter(({ level }) => level >= WARN),
    [],
  );
});

it('the log has one line for each request without a route, whatever its path', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  for (const [method, path, status] of [
    ['GET', '/zzz', 404],
    ['POST', '/zzz', 404],
    ['DELETE', '/zzz', 404],
    ['GET', '/console/nope', 404],
    ['GET', '/health/nope', 404],
    ['GET', '/api/v1/x', 404],
    ['GET', '/api/v2/x', 404],
    ['PUT', '/metrics', 405],
    ['POST', '/health/ready', 405],
    ['DELETE', '/', 405],
    ['DELETE', '/api/v2/openapi.json', 405],
  ] as const) {
    gateway.log.lines.length = 0;
    const answer = await gateway.send(method, `${path}?a=secret`, { headers: { 'x-request-id': 'r-9' } });
    const { detail } = answer.json() as { detail: string };
    assert.equal(answer.headers.get('x-request-id'), 'r-9');
    const lines = gateway.log.lines.map((one) => [
      one.msg,
      one.level,
      one['reqId'],
      one['method'],
      one['path'],
      one['status'],
      one['detail'],
    ]);
    assert.deepEqual(lines, [['request refused', INFO, 'r-9', method, path, status, detail]]);
  }
  assert.doesNotMatch(gateway.log.text, /secret/);
});

it('the log says that the caller of a purge disconnected, with the counts so far', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const { held: slow, gate } = await holdBack(broker);
  const gateway = await startTestGateway({ BROKER_URL: slow.url });
  const caller = new AbortController();
  const purge = gateway.send('DELETE', '/ngsi-ld/v1/entities?type=Car', { signal: caller.signal });
  await slow.arrived(isDelete);
  caller.abort();
  await assert.rejects(purge, { name: 'AbortError' });
  gate.open();
  const line = await gateway.log.until('purge stopped: its caller is gone');
  assert.equal(line.level, INFO);
  assert.equal(line['query'], 'type=Car');
  assert.equal(typeof line['durationMs'], 'number');
  assert.equal(purgeLines(gateway).length, 2);
});

it('the log never holds a token, credentials or a cookie, at any level', async () => {
  const SECRETS = words(`
    gateway-secret-1 bearer-secret-2 auth-secret-3 cookie-secret-4 wrong-secret-5
  `);
  const headers = {
    'x-gateway-token': 'gateway-secret-1',
    authorization: 'Bearer bearer-secret-2',
    'x-auth-token': 'auth-secret-3',
    cookie: 'session=cookie-secret-4',
  };
  const broker = await startTestBroker();
  const env = { GATEWAY_TOKEN: 'gateway-secret-1', LOG_LEVEL: 'trace', RETRY_MAX_ATTEMPTS: '2' };
  for (const BROKER_URL of [broker.url, 'http://127.0.0.1:9']) {
    const gateway = await startTestGateway({ ...env, BROKER_URL });
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
    broker.behaviour.failFirst = 1;
    broker.behaviour.faultKinds = ['reset-before'];
    await gateway.purge('type=Car', headers);
    await gateway.purge('type=Car', { ...headers, 'x-gateway-token': 'wrong-secret-5' });
    await gateway.purge('limit=1', headers);
    await gateway.purge('type=Car', { ...headers, 'x-purge-policy': 'nonsense' });
    await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car', { headers });
    await gateway.send('DELETE', '/ngsi-ld/v1//entities', { headers });
    await gateway.send('GET', '/health/ready', { headers });
    await gateway.send('GET', '/nowhere', { headers });
    assert.ok(gateway.log.lines.length >= 4);
    assert.ok(gateway.log.lines.every(({ level }) => level < ERROR));
    for (const secret of SECRETS) assert.ok(!gateway.log.text.includes(secret), secret);
  }
});

it('the log never holds a part of an answer of the broker that is not HTTP', async (t) => {
  const broker = await listening(
    createServer(({ socket }) =>
      socket.end('HTTP/1.1 200 OK\r\nBad Name: x\r\nSet-Cookie: secret-1\r\n\r\n{"id":"secret-2"}'),
    ),
  );
  t.after(() => broker.close());
  const gateway = await startTestGateway({ BROKER_URL: broker.url, RETRY_MAX_ATTEMPTS: '2' });
  await gateway.send('GET', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1');
  await gateway.purge('type=Car');
  const [line] = gateway.log.with('pass-through failed');
  assert.match(JSON.stringify(line?.['err']), /HTTPParserError.*Invalid header token/);
  assert.equal(purgeLines(gateway).length, 2);
  assert.doesNotMatch(gateway.log.text, /secret/);
});
