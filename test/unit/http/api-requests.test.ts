import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import type { ImportSource } from '../../../sidecar/schemas/repository/transfer.js';
import { IMPORT_LIMIT, send } from './fake-api.js';

const DOMAIN = { name: 'D', compatibility: 'none', createdAt: 1, modifiedAt: 2, etag: 'e' };
const NOTHING = { items: [], total: 0 };
const JSON_TYPE = { 'content-type': 'application/json' };

it('a body may have as many bytes as its route and BODY_LIMIT_BYTES both allow', async () => {
  const ofBytes = (bytes: number) => {
    const empty = JSON.stringify({ name: 'D', description: '' }).length;
    return JSON.stringify({ name: 'D', description: 'x'.repeat(bytes - empty) });
  };
  const create = async (payload: string, bodyLimit: number) => {
    return (await send('POST', '/domains', { body: payload }, { create: DOMAIN }, bodyLimit)).status;
  };
  assert.equal(await create(ofBytes(1000), 1000), 201);
  assert.equal(await create(ofBytes(1001), 1000), 413);
  // Within BODY_LIMIT_BYTES, but more than a name and a description can have.
  assert.equal(await create(ofBytes(64 * 1024 + 1), 1_000_000), 413);
  assert.equal(await create(ofBytes(64 * 1024), 1_000_000), 422);
});

it('a body may have 100,000 arrays, objects and items, and not one more', async () => {
  const put = async (items: number) => {
    const body = `[${'0,'.repeat(items - 1)}0]`;
    const reference = { uri: 'urn:a', content: {}, createdAt: 1, modifiedAt: 2, etag: 'e' };
    const put = { reference, outcome: 'replaced' };
    return send('PUT', '/references?uri=urn:a', { body }, { put }, 1_000_000);
  };
  assert.deepEqual([(await put(100_000)).status, (await put(100_001)).status], [200, 422]);
  assert.deepEqual((await put(100_001)).calls, []);
});

it('a name in a path is a single segment, which no server takes for several or for another', async () => {
  for (const name of ['a%2Fb', 'a%2fb', 'a%5Cb', 'a;b', 'a%20b/', '', '%2E%2e%2Fa']) {
    const { status, calls } = await send('GET', `/domains/${name}`, {}, { get: DOMAIN });
    assert.deepEqual([status, calls], [404, []], name);
  }
  for (const [name, given] of [
    ['a%20b', 'a b'],
    ['...', '...'],
    ['%C3%A4~', 'ä~'],
  ] as const)
    assert.deepEqual((await send('GET', `/domains/${name}`, {}, { get: DOMAIN })).calls, [['get', given]]);
});

it('a condition that is not understood is refused in every write, even if the route supports no conditions', async () => {
  for (const headers of [{ 'if-none-match': '"a"' }, { 'if-match': 'a' }]) {
    const { status, calls } = await send(
      'POST',
      '/domains',
      { headers, body: { name: 'D' } },
      { create: DOMAIN },
    );
    assert.deepEqual([status, calls], [400, []]);
  }
});

it('a body is refused if the route accepts none, even null', async () => {
  for (const body of ['null', '{}', '0', 'false', '""']) {
    const { status, calls } = await send('POST', '/purges/p/cancel', { body });
    assert.deepEqual([status, calls], [400, []], body);
  }
});

it('HEAD of an archive or a list of ids stops the stream that GET would send', async () => {
  for (const [url, name] of [
    ['/export', 'export'],
    ['/purges/p/ids', 'ids'],
  ] as const) {
    const stream = Readable.from(['x']);
    const { status, text } = await send('HEAD', url, {}, { [name]: stream });
    assert.deepEqual([status, text, stream.destroyed], [200, '', true], url);
  }
});

it('a compressed list of ids that fails before its first byte is a problem that is not compressed', async () => {
  const ids = Readable.from(
    (async function* () {
      yield 'small enough to wait for more\n';
      throw new Error('the file is gone');
    })(),
  );
  const sent = { headers: { 'accept-encoding': 'gzip' } };
  const { status, headers, text } = await send('GET', '/purges/p/ids', sent, { ids });
  assert.deepEqual([status, headers['content-encoding']], [500, undefined]);
  assert.deepEqual(JSON.parse(text), { detail: 'the file is gone' });
});

it('scripts of other origins may read contexts with their ETag and links, and nothing else', async () => {
  const held = {
    bytes: Buffer.from('{}'),
    mediaType: 'application/ld+json',
    etag: 'e',
    lifecycle: undefined,
  };
  const doing = { document: held, list: NOTHING };
  const { headers } = await send('GET', '/contexts/C', {}, doing);
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['access-control-expose-headers'], 'ETag, Link');
  for (const url of ['/domains', '/contexts', '/purges']) {
    const other = await send('GET', url, {}, doing);
    assert.equal(other.headers['access-control-allow-origin'], undefined, url);
  }
});

const BOUNDARY = 'boundary';
const part = (disposition: string, content: string) =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const file = (name: string, content: string) => part(`name="f"; filename="${name}"`, content);
const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Imports a body. @returns the status, and what reached the import */
async function imported(body: string, headers: Readonly<Record<string, string>>) {
  // The report is not used: it is missing, which is no answer either.
  const { status, text, calls } = await send('POST', '/import', { body, headers });
  return { status, text, source: calls[0]?.[1] as ImportSource | undefined };
}

it('an archive is accepted under each of the names of its media type', async () => {
  for (const [type, kind] of [
    ['application/gzip', 'gzip'],
    ['application/x-gzip', 'gzip'],
    ['application/zip', 'zip'],
    ['application/x-zip-compressed', 'zip'],
    ['application/json', 'documents'],
    ['Application/GZip; a=b', 'gzip'],
  ] as const)
    assert.equal((await imported('{}', { 'content-type': type })).source?.kind, kind, type);
  for (const type of ['text/plain', 'application/x-tar', 'application/ld+json'])
    assert.deepEqual((await imported('{}', { 'content-type': type })).status, 415, type);
});

it('an encoded body is refused in every form', async () => {
  const form = `${file('a', 'x')}--${BOUNDARY}--\r\n`;
  for (const headers of [{ 'content-type': 'application/gzip' }, JSON_TYPE, FORM]) {
    const { status, source } = await imported(form, { ...headers, 'content-encoding': 'gzip' });
    assert.deepEqual([status, source], [415, undefined], headers['content-type']);
    const identity = await imported(form, { ...headers, 'content-encoding': 'Identity' });
    assert.notEqual(identity.source, undefined, headers['content-type']);
  }
});

it('a form is read as its files, by their paths', async () => {
  const form = `${file('a/b.json', '1')}${file('c.json', '22')}--${BOUNDARY}--\r\n`;
  const { source } = await imported(form, FORM);
  assert.ok(source?.kind === 'parts');
  assert.deepEqual(
    source.parts.map(({ name, bytes }) => [name, String(bytes)]),
    [
      ['a/b.json', '1'],
      ['c.json', '22'],
    ],
  );
});

it('a form with a field, without a file, or truncated is refused', async () => {
  for (const form of [
    `${file('a', 'x')}${part('name="b"', 'y')}--${BOUNDARY}--\r\n`,
    `${part('name="b"', 'y')}--${BOUNDARY}--\r\n`,
    `--${BOUNDARY}--\r\n`,
    file('a', 'x').slice(0, -4),
  ]) {
    const { status, source } = await imported(form, FORM);
    assert.deepEqual([status, source], [400, undefined], form);
  }
});

it('the files of a form may have as many bytes as an import in all, and not one more', async () => {
  const form = (...sizes: readonly number[]) =>
    [...sizes.map((size) => file('a', 'x'.repeat(size))), `--${BOUNDARY}--\r\n`].join('');
  for (const sizes of [[IMPORT_LIMIT], [1000, IMPORT_LIMIT - 1000]])
    assert.notEqual((await imported(form(...sizes), FORM)).source, undefined, sizes.join());
  for (const sizes of [[IMPORT_LIMIT + 1], [1000, IMPORT_LIMIT - 999], [1, 1, IMPORT_LIMIT - 1]]) {
    const { status, source } = await imported(form(...sizes), FORM);
    assert.deepEqual([status, source], [413, undefined], sizes.join());
  }
});
