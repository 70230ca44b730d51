import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, it } from 'node:test';
import { startTestGateway, stopAll } from '../support/gateway-harness.js';
import { makeModel, startApi } from './api-client.js';

after(stopAll);

const FORWARDED = {
  'x-forwarded-host': 'evil.test',
  'x-forwarded-proto': 'https',
  'x-forwarded-port': '444',
  'x-forwarded-prefix': '/evil',
  forwarded: 'host=evil.test;proto=https',
};

it('URLs in answers begin with PUBLIC_URL if it is set, whatever Host and X-Forwarded say', async () => {
  const base = 'https://data.city.test/gateway';
  const { api } = await startApi({ PUBLIC_URL: `${base}/` });
  const created = await api.post('/domains', { name: 'A' }, FORWARDED);
  assert.equal(created.headers.get('location'), `${base}/api/v2/domains/A`);
  await api.post('/domains', { name: 'B' });
  const page = await api.get('/domains?limit=1', FORWARDED);
  assert.equal(page.headers.get('link'), `<${base}/api/v2/domains?limit=1&offset=1>; rel="next"`);
  const model = await makeModel(api, 'A', 'Car');
  const example = (await api.get(`${model}/files/example.jsonld`)).json() as { '@context': string[] };
  assert.equal(example['@context'][0], `${base}/api/v2/contexts/A~Car`);
  const [file] = (await api.get(`${model}/files`)).json() as readonly { url: string }[];
  assert.equal(file?.url, `${base}/api/v2${model}/files/schema.json`);
  const openapi = (await api.get('/openapi.json')).json() as { servers: readonly { url: string }[] };
  assert.deepEqual(openapi.servers, [{ url: `${base}/api/v2` }]);
  const reference = await api.put('/references?uri=urn:doc:a', {});
  assert.equal(reference.headers.get('location'), `${base}/api/v2/references?uri=urn%3Adoc%3Aa`);
  const context = await api.post('/contexts', { name: 'C', '@context': `${base}/api/v2/contexts/A~Car` });
  assert.equal(context.status, 201, 'its own contexts are known by their public URLs');
  assert.equal(context.headers.get('location'), `${base}/api/v2/contexts/C`);
});

it('the Location of an asynchronous purge has the path of PUBLIC_URL', async () => {
  const gateway = await startTestGateway({
    BROKER_URL: 'embedded',
    PUBLIC_URL: 'https://data.city.test/gateway/',
  });
  const { status, headers } = await gateway.purge('type=A', { prefer: 'respond-async' });
  assert.equal(status, 202);
  assert.equal(headers.get('location'), `/gateway/api/v2/purges/${String(headers.get('purge-id'))}`);
});

it('without PUBLIC_URL, URLs in answers begin with http and the Host of the request; X-Forwarded is ignored', async () => {
  const { api, port } = await startApi();
  await api.post('/domains', { name: 'A' });
  await api.post('/domains', { name: 'B' });
  const page = await api.get('/domains?limit=1', FORWARDED);
  assert.equal(page.headers.get('link'), `<${api.url}/domains?limit=1&offset=1>; rel="next"`);
  for (const [host, base] of [
    ['gateway.city.test:8000', 'http://gateway.city.test:8000'],
    ['my_service', 'http://my_service'],
    ['[::1]:80', 'http://[::1]:80'],
    ['', `http://127.0.0.1:${port}`],
  ] as const) {
    const answer = await raw(port, `GET /api/v2/domains?limit=1 HTTP/1.1\r\nHost: ${host}\r\n`);
    assert.ok(answer.includes(`link: <${base}/api/v2/domains?limit=1&offset=1>`), `${host}: ${answer}`);
  }
  const old = await raw(port, 'GET /api/v2/domains?limit=1 HTTP/1.0\r\n');
  assert.ok(old.includes(`link: <http://127.0.0.1:${port}/api/v2/domains`), old);
});

it('a request with an invalid Host is 400', async () => {
  const { port } = await startApi();
  for (const host of [
    'a b',
    'evil.test/x',
    'u@evil.test',
    'a"><script>',
    'a:b',
    'a:99999999',
    'a,b',
    '[x]',
    'a?x',
  ]) {
    const answer = await raw(port, `GET /api/v2/domains HTTP/1.1\r\nHost: ${host}\r\n`);
    assert.match(answer, /^HTTP\/1\.1 400 /, host);
    assert.match(answer, /problem\+json/);
  }
});

async function raw(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(`${head}Connection: close\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return text;
}
