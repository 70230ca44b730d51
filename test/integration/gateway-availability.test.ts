import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { readKongFile } from '../support/kong-router.js';
import { ROOT } from '../support/project.js';
import { Gate, startRecordingBroker } from '../support/recording-broker.js';
import { closeAll, connect, exchange, startRawBroker, statusOf } from './pass-through-wire.js';

after(stopAll);
after(closeAll);

const ETSI = 'https://uri.etsi.org/ngsi-ld/errors/';
const own = (name: string) => `urn:ngsi-ld-gateway:problem:${name}`;

it('/health/live answers 200 while the broker is unavailable, also to HEAD', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  const live = await gateway.send('GET', '/health/live');
  assert.equal(live.status, 200);
  assert.deepEqual(live.json(), { status: 'up' });
  const head = await gateway.send('HEAD', '/health/live');
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
});

it('an idle connection is kept longer than gateways in front keep theirs: Google Cloud for 600 s', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  const client = await connect(gateway.port);
  client.send('GET /health/live HTTP/1.1\r\nHost: g\r\n\r\n');
  const [, seconds] = /\r\nKeep-Alive: timeout=(\d+)\r\n/.exec(await client.until(/\r\n\r\n/)) ?? [];
  assert.ok(Number(seconds) > 600, seconds);
  client.socket.destroy();
});

it('the health checks of Kong are answered with 200 while the broker is unavailable', async () => {
  const gateway = await startTestGateway({
    BROKER_URL: 'http://127.0.0.1:9',
    GATEWAY_TOKEN: 'secret-of-kong',
  });
  const { upstreams } = readKongFile(readFileSync(join(ROOT, 'kong.yml'), 'utf8'));
  assert.ok(upstreams.length > 0);
  for (const { healthchecks } of upstreams) {
    // As lua-resty-healthcheck writes the request.
    const probe = `GET ${healthchecks.active.http_path} HTTP/1.0\r\nHost: sidecar\r\n\r\n`;
    assert.equal(statusOf(await exchange(gateway.port, probe)), 200);
  }
});

it('/health/ready reports whether the broker is available', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const up = await gateway.send('GET', '/health/ready');
  assert.equal(up.status, 200);
  assert.deepEqual(up.json(), { status: 'up', broker: 'up', database: 'up' });

  broker.behaviour.failFirst = 1;
  assert.equal((await gateway.send('GET', '/health/ready')).status, 503);
  assert.equal((await gateway.send('GET', '/health/ready')).status, 200);

  await broker.close();
  const down = await gateway.send('GET', '/health/ready');
  assert.equal(down.status, 503);
  assert.deepEqual(down.json(), { status: 'down', broker: 'down', database: 'up' });
});

it('/health/ready is 503 from the start of a shutdown, while running requests are completed', async () => {
  const gate = new Gate();
  const broker = await startRecordingBroker(async () => gate.passed.then(() => ({ status: 200, body: 'x' })));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const running = gateway.send('GET', '/ngsi-ld/v1/entities?type=Car');
  await broker.arrived(() => true);
  const closed = gateway.gateway.close();
  const ready = await gateway.send('GET', '/health/ready');
  assert.equal(ready.status, 503);
  assert.deepEqual(ready.json(), { status: 'shutting down', broker: 'not asked', database: 'not asked' });
  gate.open();
  assert.equal((await running).text, 'x');
  await closed;
});

it('a purge without a reachable broker is 502, and names the URL of the broker', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9', RETRY_MAX_ATTEMPTS: '2' });
  const failed = await gateway.purge('type=Car');
  assert.equal(failed.status, 502);
  const problem = failed.problem();
  assert.equal(problem.type, own('broker-unreachable'));
  assert.match(problem.detail ?? '', /http:\/\/127\.0\.0\.1:9\/ could not be reached: connection refused/);
  assert.equal(problem['deleted'], undefined);
});

it('a forwarded request waits for a connection no longer than BROKER_TIMEOUT_MS', async () => {
  // The broker never answers the TLS greeting.
  const broker = await startRawBroker(() => true);
  const gateway = await startTestGateway({
    BROKER_URL: `https://${broker.url.host}`,
    BROKER_TIMEOUT_MS: '50',
  });
  const sentMs = performance.now();
  const answer = await gateway.send('GET', '/ngsi-ld/v1/types');
  assert.equal(answer.status, 504);
  assert.equal(answer.problem().type, own('broker-timeout'));
  assert.ok(performance.now() - sentMs < 9000, 'and not ten seconds');
});

it("a purge at a failing broker is 502 with the broker's problem inside, after the last retry", async () => {
  const broker = await startTestBroker();
  broker.entities.seed(1, () => ({ id: 'urn:ngsi-ld:Car:1', type: 'Car' }));
  broker.behaviour.faultRate = 1;
  const gateway = await startTestGateway({ BROKER_URL: broker.url, RETRY_MAX_ATTEMPTS: '3' });
  const failed = await gateway.purge('type=Car');
  assert.equal(failed.status, 502);
  assert.equal(failed.problem().type, own('broker-failed'));
  assert.equal((failed.problem()['broker'] as { status: number }).status, 503);
  assert.equal(broker.requests.total, 3);
});

it('a purge is 429 with Retry-After if the broker asks for too long a pause', async () => {
  const broker = await startTestBroker();
  Object.assign(broker.behaviour, { faultRate: 1, faultKinds: ['429-retry-after'], retryAfter: '3600' });
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const failed = await gateway.purge('type=Car');
  assert.equal(failed.status, 429);
  assert.equal(failed.headers.get('retry-after'), '3600');
  assert.equal(failed.problem().type, own('broker-throttled'));
  assert.equal(broker.requests.total, 1);
});

it('a purge whose filter the broker ignores is 501 and deletes nothing', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(5, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  broker.behaviour.ignoreParameters = ['q'];
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const refused = await gateway.purge('type=Car&q=speed%3E100');
  assert.equal(refused.status, 501);
  assert.equal(refused.problem().type, own('filter-ignored'));
  assert.equal(refused.problem()['parameter'], 'q');
  assert.equal(broker.entities.count(), 5);
});

it('refusals by the gateway have the problem types of the standard', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  assert.equal((await gateway.purge('type=Car&nope=1')).problem().type, `${ETSI}InvalidRequest`);
  assert.equal((await gateway.purge('')).problem().type, `${ETSI}BadRequestData`);
  assert.equal((await gateway.send('GET', '/nowhere')).problem().type, `${ETSI}ResourceNotFound`);
});
