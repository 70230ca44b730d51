import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ensureCliBuilt } from '../support/cli-process.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { ROOT } from '../support/project.js';
import { words } from '../support/words.js';

after(stopAll);

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/**
 * URLs that are only names and are never loaded: of SVG, of drafts of JSON Schema, of a term in an
 * example.
 */
const NAMES = words(`
  http://www.w3.org https://json-schema.org http://json-schema.org https://uri.etsi.org https://example.org
`);

let gateway: TestGateway;

before(async () => {
  await ensureCliBuilt();
  const broker = await startTestBroker();
  gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: 'token-of-console' });
});

it('GET / redirects browsers to the console, by a relative address, and gives other clients a list of links', async () => {
  const browser = await gateway.send('GET', '/', { headers: HTML });
  assert.deepEqual([browser.status, browser.headers.get('location')], [302, 'console/']);
  assert.equal(browser.headers.get('vary'), 'Accept');
  for (const accept of [
    '*/*',
    'application/json',
    'text/html;q=0, */*',
    'text/html;q=0.5, application/json',
  ]) {
    const other = await gateway.send('GET', '/', { headers: { accept } });
    const { links } = other.json() as { links: Readonly<Record<string, string>> };
    assert.equal(other.status, 200);
    assert.equal(links['console'], `${gateway.url}/console/`);
    assert.equal(links['openapi'], `${gateway.url}/api/v2/openapi.json`);
  }
});

it('the page of the console needs no token, is revalidated, and has a policy without exceptions', async () => {
  const page = await gateway.send('GET', '/console/', { headers: HTML });
  assert.equal(page.status, 200);
  const policy = page.headers.get('content-security-policy') ?? '';
  for (const directive of [
    "default-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ])
    assert.ok(policy.split('; ').includes(directive), directive);
  assert.doesNotMatch(policy, /unsafe|data:|https?:|\*/);
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  const etag = page.headers.get('etag') ?? '';
  // By default, fetch would send headers that prevent an answer from a cache.
  const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
  const again = await gateway.send('GET', '/console/', { headers });
  assert.equal(again.status, 304);
});

it('the page of the console names only files of the console, which caches may keep forever', async () => {
  const { text } = await gateway.send('GET', '/console/');
  const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  assert.ok(files.length >= 3);
  for (const path of files) {
    assert.match(path, /^\.\/assets\/[\w-]+\.(?:js|css|svg)$/);
    const file = await gateway.send('GET', `/console/${path.slice(2)}`);
    assert.equal(file.status, 200);
    assert.match(file.headers.get('cache-control') ?? '', /max-age=31536000, immutable/);
    assert.ok(file.headers.has('content-security-policy'), path);
  }
  assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
});

it('the first page is at most 80 kB, compressed at build time', async () => {
  const page = await gateway.send('GET', '/console/');
  const files = [...page.text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = '']) => path);
  let bytes = 0;
  for (const path of ['', ...files]) {
    const { headers } = await gateway.send('HEAD', `/console/${path}`, {
      headers: { 'accept-encoding': 'br, gzip' },
    });
    assert.deepEqual([headers.get('content-encoding'), headers.get('vary')], ['br', 'Accept-Encoding'], path);
    bytes += Number(headers.get('content-length'));
  }
  assert.ok(bytes > 10_000 && bytes <= 80_000, String(bytes));
  const plain = await gateway.send('HEAD', '/console/', { headers: { 'accept-encoding': 'identity' } });
  assert.equal(plain.headers.get('content-encoding'), null);
});

it('nothing outside the folder of the console is served', async () => {
  for (const path of words(`
    /console/../package.json /console/%2e%2e/cli.js /console/..%2fcli.js /console/.console.json
    /console/..%5ccli.js /console/%00 /console/nothing.js
  `)) {
    const { status } = await gateway.send('GET', path);
    assert.equal(status, 404, path);
  }
});

it('an unsatisfiable range or failed condition for a file of the console is answered with 416 or 412', async () => {
  for (const [headers, expected] of [
    [{ range: 'bytes=9999999-' }, 416],
    [{ 'if-match': '"other"' }, 412],
  ] as const) {
    const answer = await gateway.send('GET', '/console/', { headers });
    assert.equal(answer.status, expected);
    assert.equal((answer.json() as { status: number }).status, expected);
  }
});

it('the console takes less than 300 kB compressed, and refers to no other hosts', async () => {
  const folder = join(ROOT, 'dist/console');
  const names = await readdir(folder, { recursive: true });
  let bytes = 0;
  for (const name of names.filter((one) => /\.(?:html|css|js|svg)$/.test(one))) {
    const content = await readFile(join(folder, name));
    bytes += gzipSync(content).length;
    for (const [url] of content.toString().matchAll(/https?:\/\/[\w.-]+/g))
      assert.ok(NAMES.includes(url), `${name}: ${url}`);
  }
  assert.ok(bytes > 10_000 && bytes < 300_000, String(bytes));
});

it('CONSOLE=off answers browsers with JSON as well', async () => {
  const broker = await startTestBroker();
  const without = await startTestGateway({ BROKER_URL: broker.url, CONSOLE: 'off' });
  const answer = await without.send('GET', '/', { headers: HTML });
  assert.equal(answer.status, 200);
  assert.ok(!('console' in (answer.json() as { links: object }).links));
});

it('no source of the console turns text into markup', async () => {
  const folder = join(ROOT, 'console');
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  assert.ok(names.length > 20);
  for (const name of names)
    assert.doesNotMatch(
      await readFile(join(folder, name), 'utf8'),
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      name,
    );
});
