import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import {
  send,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { seriesOf, valueOf } from '../unit/metrics/series.js';

after(stopAll);

async function metricsOf(gateway: TestGateway): Promise<string> {
  const { status, text } = await send(gateway.gateway.metricsUrl, 'GET', '');
  assert.equal(status, 200);
  return text;
}

const PASSED = 'pass_through_duration_seconds_count';
const SENT = 'broker_request_duration_seconds_count';

it('GET /metrics is Prometheus text, and needs no token even if one is set', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-metrics' });
  const { status, headers, text } = await gateway.send('GET', '/metrics');
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(valueOf(text, 'store_up', {}), 1);
  assert.equal(valueOf(text, 'broker_up', {}), 1);
  assert.ok(!text.includes('token-of-metrics'));
  assert.equal((await gateway.send('HEAD', '/metrics')).status, 200);
  assert.equal((await gateway.send('POST', '/metrics')).status, 405);
});

it('GET /metrics counts forwarded requests by method and status class', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(2, (n) => ({ id: `urn:a:${n}`, type: 'A' }));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  for (let n = 0; n < 3; n += 1) await gateway.send('GET', '/ngsi-ld/v1/entities?type=A');
  await gateway.send('GET', '/ngsi-ld/v1/entities/urn:a:missing');
  await gateway.send('DELETE', '/ngsi-ld/v1/entities/urn:a:1');
  const text = await metricsOf(gateway);
  assert.equal(valueOf(text, PASSED, { method: 'GET', status_class: '2xx' }), 3);
  assert.equal(valueOf(text, PASSED, { method: 'GET', status_class: '4xx' }), 1);
  assert.equal(valueOf(text, PASSED, { method: 'DELETE', status_class: '2xx' }), 1);
  // None of these is a request by the gateway itself.
  assert.ok(!seriesOf(text).some(({ name }) => name.endsWith(SENT)));
});

it('GET /metrics counts an unreachable broker as 5xx for forwarded requests, and as unreachable for purges', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9', RETRY_MAX_ATTEMPTS: '3' });
  assert.equal((await gateway.send('GET', '/ngsi-ld/v1/types')).status, 502);
  assert.equal((await gateway.purge('type=A')).status, 502);
  const text = await metricsOf(gateway);
  assert.equal(valueOf(text, PASSED, { method: 'GET', status_class: '5xx' }), 1);
  assert.equal(valueOf(text, SENT, { method: 'GET', status_class: 'unreachable' }), 3);
  assert.equal(valueOf(text, 'purge_retries_total', {}), 2);
  assert.equal(valueOf(text, 'broker_up', {}), 0);
});

it('GET /metrics counts each attempt of a purge, and the retries separately', async () => {
  let asked = 0;
  const broker = await startRecordingBroker(() => {
    asked += 1;
    return asked === 1
      ? { status: 503 }
      : { status: 200, body: '[]', headers: { 'ngsild-results-count': '0' } };
  });
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  assert.equal((await gateway.purge('type=A')).status, 204);
  const tries = asked;
  const text = await metricsOf(gateway);
  assert.equal(valueOf(text, SENT, { method: 'GET', status_class: '5xx' }), 1);
  assert.equal(valueOf(text, SENT, { method: 'GET', status_class: '2xx' }), tries - 1);
  assert.equal(valueOf(text, 'purge_retries_total', {}), 1);
  assert.equal(valueOf(text, 'purges_running', {}), 0);
});

it('GET /metrics queries the broker at most once in 15 seconds, however often it is read', async () => {
  const clock = { ...systemClock, monotonicMs: () => time };
  let time = 0;
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url }, { clock });
  for (const [atMs, asked] of [
    [0, 1],
    [14_999, 1],
    [15_000, 2],
  ] as const) {
    time = atMs;
    await metricsOf(gateway);
    assert.equal(broker.requests.entries.length, asked, String(atMs));
  }
});

it('GET /metrics counts deletes while their purge runs', async () => {
  let meanwhile: string | undefined;
  let left = ['urn:a:1', 'urn:a:2'];
  const broker = await startRecordingBroker(async ({ method, url }) => {
    if (method === 'POST') {
      left = [];
      return { status: 204 };
    }
    const isAsked = new URL(url, broker.url).searchParams.get('type') === 'A';
    if (isAsked && left.length === 0) meanwhile ??= await metricsOf(gateway);
    const matches = isAsked ? left.map((id) => ({ id, type: 'A' })) : [];
    return {
      status: 200,
      body: JSON.stringify(matches),
      headers: { 'ngsild-results-count': String(matches.length) },
    };
  });
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  assert.equal((await gateway.purge('type=A')).status, 204);
  assert.ok(meanwhile !== undefined);
  assert.equal(valueOf(meanwhile, 'purges_running', {}), 1);
  assert.equal(valueOf(meanwhile, 'purge_deletes_total', { target: 'entities' }), 2);
  const text = await metricsOf(gateway);
  assert.equal(valueOf(text, 'purge_deletes_total', { target: 'entities' }), 2);
  assert.equal(valueOf(text, 'purge_items_total', { target: 'entities', result: 'deleted' }), 2);
});
