import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, it, type TestContext } from 'node:test';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { listening } from '../support/listening.js';
import { startRecordingBroker } from '../support/recording-broker.js';

after(stopAll);

interface Sent {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: object }[];
}

/** Starts a collector that records the spans it receives. */
async function startCollector(t: TestContext) {
  const spans: Sent[] = [];
  const texts: string[] = [];
  const server = createServer((req, res) => {
    void (async () => {
      let body = '';
      for await (const chunk of req) body += String(chunk);
      texts.push(body);
      assert.equal(req.url, '/v1/traces');
      type Export = { resourceSpans: { scopeSpans: { spans: Sent[] }[] }[] };
      for (const { scopeSpans } of (JSON.parse(body) as Export).resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans);
      res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    })();
  });
  const { url, close } = await listening(server);
  t.after(close);
  return { url, spans, texts };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENTS_SPAN = 'b7ad6b7169203331';
const traced = (flags: string) => ({ traceparent: `00-${TRACE}-${CLIENTS_SPAN}-${flags}` });

async function gatewayWith(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const collector = await startCollector(t);
  const broker = await startTestBroker();
  broker.entities.seed(3, (n) => ({ id: `urn:secret:${n}`, type: 'Secret' }));
  const gateway = await startTestGateway({
    BROKER_URL: broker.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...settings,
  });
  return { collector, broker, gateway };
}

it('the span of a purge is in the trace of its request, with spans for its phases and for requests to the broker', async (t) => {
  const { collector, broker, gateway } = await gatewayWith(t);
  const answer = await gateway.send('DELETE', '/ngsi-ld/v1/entities?type=Secret', { headers: traced('01') });
  assert.equal(answer.status, 204);
  const history = await gateway.send('GET', '/api/v2/purges?limit=1');
  await gateway.gateway.close();
  const spans = collector.spans.filter(({ traceId }) => traceId === TRACE);
  const one = (name: string) => spans.find((span) => span.name === name) ?? assert.fail(name);
  const request = one('DELETE /ngsi-ld/v1/entities');
  assert.deepEqual([request.kind, request.parentSpanId], [2, CLIENTS_SPAN]);
  const purge = one('purge entities');
  assert.equal(purge.parentSpanId, request.spanId);
  for (const phase of ['list', 'delete', 'check']) {
    const span = one(phase);
    assert.equal(span.parentSpanId, purge.spanId, phase);
    assert.ok(BigInt(span.startTimeUnixNano) >= BigInt(purge.startTimeUnixNano), phase);
    assert.ok(BigInt(span.endTimeUnixNano) <= BigInt(purge.endTimeUnixNano), phase);
  }
  const sent = spans.filter(({ kind }) => kind === 3);
  assert.equal(sent.length, broker.requests.entries.length);
  for (const { parentSpanId } of sent) assert.equal(parentSpanId, request.spanId);
  const [record] = history.json() as { traceparent: string; id: string }[];
  assert.equal(record?.traceparent, `00-${TRACE}-${request.spanId}-01`);
  assert.ok(
    purge.attributes.some(
      ({ key, value }) => key === 'ngsild.job.id' && Object.values(value)[0] === record.id,
    ),
  );
});

it('no span contains a query, an identifier, a header or a body', async (t) => {
  const { collector, gateway } = await gatewayWith(t, { GATEWAY_TOKEN: 'secret-token' });
  const headers = { 'x-gateway-token': 'secret-token', authorization: 'Bearer secret', 'x-user': 'secret' };
  for (const [method, path] of [
    ['DELETE', '/ngsi-ld/v1/entities?type=Secret&q=secret==1'],
    ['GET', '/ngsi-ld/v1/entities/urn:secret:1'],
    ['GET', '/api/v2/domains/secret'],
    ['GET', '/api/v2/secret'],
    ['GET', '/ngsi-ld/v1/secret'],
    ['SECRET', '/secret'],
  ] as const)
    await gateway.send(method, path, { headers });
  await gateway.gateway.close();
  assert.ok(collector.spans.length >= 7);
  assert.doesNotMatch(collector.texts.join(), /secret/i);
});

it('with a share of 0, only requests sampled by the client are traced, and forwarded requests keep their traceparent', async (t) => {
  const { collector, broker, gateway } = await gatewayWith(t, { OTEL_TRACES_SAMPLER_ARG: '0' });
  await gateway.send('GET', '/ngsi-ld/v1/entities?type=Secret');
  await gateway.send('GET', '/ngsi-ld/v1/entities?type=Secret', { headers: traced('00') });
  await gateway.send('GET', '/ngsi-ld/v1/entities?type=Secret', { headers: traced('01') });
  await gateway.send('GET', '/ngsi-ld/v1/entities?type=Secret', { headers: { traceparent: 'nonsense' } });
  await gateway.gateway.close();
  assert.deepEqual(
    collector.spans.map(({ parentSpanId, kind }) => [parentSpanId, kind]),
    [[CLIENTS_SPAN, 2]],
  );
  assert.deepEqual(
    broker.requests.entries.map(({ headers }) => headers['traceparent']),
    [undefined, traced('00').traceparent, traced('01').traceparent, 'nonsense'],
  );
});

it('a purge is not traced if its request is not', async (t) => {
  const { collector, gateway } = await gatewayWith(t, { OTEL_TRACES_SAMPLER_ARG: '0.5' });
  let calls = 0;
  t.mock.method(Math, 'random', () => (calls++ === 0 ? 0.9 : 0.1));
  assert.equal((await gateway.purge('type=Secret')).status, 204);
  assert.equal(calls, 1);
  await gateway.gateway.close();
  assert.deepEqual(collector.spans, []);
});

for (const kind of ['is unreachable', 'never answers'])
  it(`a collector that ${kind} delays neither a purge nor, by more than two seconds, the shutdown`, async () => {
    const broker = await startTestBroker();
    const silent = await startRecordingBroker(async () => new Promise(() => {}));
    const gateway = await startTestGateway({
      BROKER_URL: broker.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: kind === 'never answers' ? silent.url : 'http://127.0.0.1:9/below/',
    });
    const sentMs = performance.now();
    assert.equal((await gateway.purge('type=A')).status, 204);
    await gateway.gateway.close();
    // The time limit of one export is ten seconds.
    assert.ok(performance.now() - sentMs < 8000);
  });

it('if the collector refuses spans, the log has the status but not the body of its answer', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({
    BROKER_URL: broker.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${broker.url}/no-collector`,
  });
  await gateway.purge('type=A');
  await gateway.gateway.close();
  const told = gateway.log.lines.filter(({ msg }) => msg === 'the collector does not accept traces');
  assert.deepEqual(
    told.map(({ level, reason, err }) => [level, reason, err]),
    [[40, '404 Not Found', undefined]],
  );
});
