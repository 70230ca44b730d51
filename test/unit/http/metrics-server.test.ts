import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, it } from 'node:test';
import { request } from 'undici';
import { startMetricsServer, type MetricsServer } from '../../../sidecar/http/metrics-routes.js';

let server: MetricsServer;
let page = async () => 'a_total 1\n';
const failures: unknown[] = [];
const ANYWHERE = { host: '127.0.0.1', port: 0, onFailed: (error: unknown) => failures.push(error) };
before(async () => {
  const served = { contentType: 'text/plain; version=0.0.4', text: () => page() };
  server = await startMetricsServer(served, ANYWHERE);
});
after(() => server.close());

const ask = async (method: 'GET' | 'HEAD' | 'POST' | 'DELETE', path = '') => {
  const { statusCode, headers, body } = await request(`${server.url}${path}`, { method });
  return { status: statusCode, headers, text: await body.text() };
};

it('the metrics are served to GET and HEAD, with or without a query, and never cached', async () => {
  for (const [method, query] of [
    ['GET', ''],
    ['GET', '?name[]=a'],
    ['HEAD', ''],
  ] as const) {
    const { status, headers, text } = await ask(method, query);
    assert.equal(status, 200, method + query);
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4');
    assert.equal(headers['content-length'], '10');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(text, method === 'HEAD' ? '' : 'a_total 1\n');
  }
});

it('the port of the metrics serves nothing else', async () => {
  for (const [method, path] of [
    ['GET', '/more'],
    ['GET', '/../health/live'],
    ['POST', ''],
    ['DELETE', ''],
  ] as const) {
    const { status, headers, text } = await ask(method, path);
    assert.equal(status, 404, `${method} ${path}`);
    assert.equal(headers['content-type'], 'application/problem+json');
    assert.match(text, /nothing but GET \/metrics/);
  }
});

it('metrics that cannot be read are 500, and the cause is reported but not sent', async () => {
  const cause = new Error('the secret cause');
  page = () => Promise.reject(cause);
  const { status, text } = await ask('GET');
  assert.equal(status, 500);
  assert.match(text, /the log of the gateway has the cause/);
  assert.doesNotMatch(text, /secret/);
  assert.deepEqual(failures, [cause]);
});

it('the port of the metrics is closed at once, even if clients have unfinished requests', async () => {
  const own = await startMetricsServer({ contentType: 'text/plain', text: async () => '' }, ANYWHERE);
  const client = connect(Number(new URL(own.url).port), '127.0.0.1');
  client.on('error', () => {});
  await once(client, 'connect');
  const isOver = new Promise((resolve) => client.once('close', resolve));
  client.write('GET /metr');
  await own.close();
  await isOver;
});

it('starting on a used port fails, and a closed port can be used again', async () => {
  const { port } = new URL(server.url);
  const none = { contentType: 'text/plain', text: async () => '' };
  const taken = { ...ANYWHERE, port: Number(port) };
  await assert.rejects(startMetricsServer(none, taken), { code: 'EADDRINUSE' });
});
