import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { MockAgent } from 'undici';
import {
  createRemoteDocuments,
  RemoteDocumentError,
  type RemoteDocumentsOptions,
  type RemoteFailure,
  alternateOf,
} from '../../../../sidecar/schemas/remote/remote-documents.js';
import { words } from '../../../support/words.js';

const ORIGIN = 'https://models.example';
const OTHER = 'https://other.example';
const JSON_TYPE = { headers: { 'content-type': 'application/json' } };

/** What a site answers: 200 with an empty object by default. */
interface Reply {
  readonly status?: number;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Remote documents whose connections are mocked; nothing reaches the network. */
function mocked(t: TestContext, options: Partial<RemoteDocumentsOptions> = {}) {
  const agent = new MockAgent();
  agent.disableNetConnect();
  t.after(() => agent.close());
  const documents = createRemoteDocuments({ allowedOrigins: [ORIGIN, OTHER], dispatcher: agent, ...options });
  return { documents, site: agent.get(ORIGIN), other: agent.get(OTHER), agent };
}

async function failure(promise: Promise<unknown>): Promise<RemoteFailure> {
  const error = await promise.then(
    () => assert.fail('was fetched'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RemoteDocumentError, String(error));
  assert.ok(error.message.includes(error.url.slice(0, 20)) || error.url.includes('@'), error.message);
  return error.failure;
}

describe('remote documents: requests and contents', () => {
  for (const type of [
    'application/json',
    'application/ld+json; charset=utf-8',
    'APPLICATION/schema+json',
    'application/vnd.example+json',
    'text/plain; charset=utf-8',
    'application/octet-stream',
    'binary/octet-stream',
  ]) {
    it(`remote documents may have the media type ${type}`, async (t) => {
      const { documents, site } = mocked(t);
      site.intercept({ path: '/a?b=c' }).reply(200, '{"a": "\u00e9"}', { headers: { 'content-type': type } });
      assert.deepEqual(await documents.fetch(`${ORIGIN}/a?b=c#d`), {
        url: `${ORIGIN}/a?b=c`,
        text: '{"a": "\u00e9"}',
        document: { a: '\u00e9' },
      });
    });
  }

  it('remote documents are requested as JSON, uncompressed, without any data of the caller', async (t) => {
    const { documents, site } = mocked(t);
    const headers: unknown[] = [];
    site.intercept({ path: '/' }).reply(
      200,
      (request) => {
        headers.push(request.headers);
        return '{}';
      },
      JSON_TYPE,
    );
    await documents.fetch(ORIGIN);
    assert.deepEqual(headers, [
      {
        accept:
          'application/ld+json, application/schema+json;q=0.9, application/json;q=0.9, text/plain;q=0.1',
        'accept-encoding': 'identity',
        'user-agent': 'ngsi-ld-gateway',
      },
    ]);
  });

  it('compressed remote documents are decompressed', async (t) => {
    const { documents, site } = mocked(t);
    for (const encoding of ['gzip', 'x-gzip', 'GZIP']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      site.intercept({ path: '/' }).reply(200, gzipSync('{"a": 1}'), { headers });
      assert.equal((await documents.fetch(ORIGIN)).text, '{"a": 1}', encoding);
    }
  });

  it('remote documents keep a member named __proto__ as an ordinary member', async (t) => {
    const { documents, site } = mocked(t);
    site.intercept({ path: '/' }).reply(200, '\ufeff{"__proto__": {"a": 1}}', JSON_TYPE);
    const { document } = await documents.fetch(ORIGIN);
    assert.deepEqual(Object.keys(document as object), ['__proto__']);
  });
});

describe('remote documents: origins', () => {
  it('remote documents come from allowed origins by scheme, host and port, and no request is sent to others', async (t) => {
    const { documents } = mocked(t);
    for (const url of [`${ORIGIN}/x`, `${ORIGIN}:443/x`, 'HTTPS://MODELS.example/x']) {
      assert.equal(documents.allows(url), true, url);
    }
    for (const url of [
      'http://models.example/x',
      `${ORIGIN}:8443/x`,
      `${ORIGIN}.evil.example/x`,
      ...words(`
        https://evil.example/https://models.example https://user@models.example/x
        https://user:secret@models.example/x https://:secret@models.example/x
        https://models.example@evil.example/x file:///etc/passwd
        data:application/json,{} models.example
      `),
      '',
    ]) {
      assert.equal(documents.allows(url), false, url);
      assert.equal(await failure(documents.fetch(url)), 'origin-not-allowed', url);
    }
  });

  it('remote documents come from no origin by default', async (t) => {
    const { documents } = mocked(t, { allowedOrigins: [] });
    assert.equal(await failure(documents.fetch(`${ORIGIN}/x`)), 'origin-not-allowed');
  });

  it('refusals of remote documents never show a password', async (t) => {
    const { documents } = mocked(t);
    await assert.rejects(
      documents.fetch('https://user:secret@models.example/x'),
      (error: Error) => !error.message.includes('secret'),
    );
  });
});

describe('remote documents: redirects', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    it(`redirects of remote documents with status ${status} are followed to allowed origins`, async (t) => {
      const { documents, site, other } = mocked(t);
      site.intercept({ path: '/a' }).reply(status, 'moved', { headers: { location: 'b/c' } });
      site.intercept({ path: '/b/c' }).reply(status, '', { headers: { location: `${OTHER}/d` } });
      other.intercept({ path: '/d' }).reply(200, '[]', JSON_TYPE);
      assert.equal((await documents.fetch(`${ORIGIN}/a`)).url, `${OTHER}/d`);
    });
  }

  it('redirects of remote documents to other origins are refused, before any request is sent there', async (t) => {
    const { documents, site, agent } = mocked(t, { allowedOrigins: [ORIGIN] });
    const paths: string[] = [];
    agent
      .get(OTHER)
      .intercept({ path: () => true })
      .reply(200, (request) => {
        paths.push(request.path);
        return '{}';
      });
    for (const location of [
      `${OTHER}/d`,
      'http://models.example/',
      'http://169.254.169.254/',
      'file:///etc/passwd',
    ]) {
      site.intercept({ path: '/a' }).reply(302, '', { headers: { location } });
      assert.equal(await failure(documents.fetch(`${ORIGIN}/a`)), 'origin-not-allowed', location);
    }
    assert.deepEqual(paths, []);
  });

  it('at most five redirects of remote documents are followed by default', async (t) => {
    const { documents, site } = mocked(t);
    for (const left of [6, 5, 4, 3, 2, 1]) {
      const headers = { location: `/${left - 1}` };
      site
        .intercept({ path: `/${left}` })
        .reply(302, '', { headers })
        .persist();
    }
    site.intercept({ path: '/0' }).reply(200, '{}', JSON_TYPE);
    assert.equal((await documents.fetch(`${ORIGIN}/5`)).url, `${ORIGIN}/0`);
    assert.equal(await failure(documents.fetch(`${ORIGIN}/6`)), 'too-many-redirects');
    site
      .intercept({ path: '/loop' })
      .reply(302, '', { headers: { location: '/loop' } })
      .persist();
    assert.equal(await failure(documents.fetch(`${ORIGIN}/loop`)), 'too-many-redirects');
  });

  it('a link of a missing page, or one that is not a URL, does not redirect a remote document', async (t) => {
    const { documents, site } = mocked(t);
    const link = '</context.jsonld>; rel="alternate"; type="application/ld+json"';
    for (const [status, headers] of [
      [404, { 'content-type': 'text/html', link }],
      [500, { 'content-type': 'text/html', link }],
      [302, { location: 'https://[' }],
    ] as const) {
      site.intercept({ path: '/a' }).reply(status, '', { headers });
      assert.equal(await failure(documents.fetch(`${ORIGIN}/a`)), 'status');
    }
  });

  it('redirects without a target are not documents', async (t) => {
    const { documents, site } = mocked(t);
    site.intercept({ path: '/a' }).reply(302, '');
    assert.equal(await failure(documents.fetch(`${ORIGIN}/a`)), 'status');
  });

  it('a link of a page to its JSON-LD alternate is followed', async (t) => {
    const { documents, site } = mocked(t);
    const headers = {
      'content-type': 'text/html',
      link: '</context.jsonld>; rel="alternate"; type="application/ld+json"',
    };
    site.intercept({ path: '/' }).reply(200, '<html></html>', { headers });
    site
      .intercept({ path: '/context.jsonld' })
      .reply(200, '{"@context": {}}', { headers: { 'content-type': 'application/ld+json' } });
    assert.deepEqual(await documents.fetch(ORIGIN), {
      url: `${ORIGIN}/context.jsonld`,
      text: '{"@context": {}}',
      document: { '@context': {} },
    });
  });
});

describe('remote documents: time', () => {
  it('remote documents have ten seconds by default', async (t) => {
    const timeouts: number[] = [];
    t.mock.method(AbortSignal, 'timeout', (ms: number) => {
      timeouts.push(ms);
      return new AbortController().signal;
    });
    const { documents, site } = mocked(t);
    site.intercept({ path: '/a' }).reply(200, '{}', JSON_TYPE);
    await documents.fetch(`${ORIGIN}/a`);
    assert.deepEqual(timeouts, [10_000]);
  });
});

describe('remote documents: refusals', () => {
  const page = { body: '<html></html>', headers: { 'content-type': 'text/html' } };
  const encoded = (encoding: string) => ({ headers: { ...JSON_TYPE.headers, 'content-encoding': encoding } });
  const large = gzipSync(JSON.stringify('a'.repeat(1_000_000))).subarray(0, 900);
  const refused: readonly (readonly [what: string, answer: Reply, failure: RemoteFailure])[] = [
    ['a missing document', { status: 404 }, 'status'],
    ['an error', { status: 500 }, 'status'],
    ['an answer without content', { status: 204, body: '', headers: {} }, 'status'],
    ['a page', page, 'media-type'],
    ['no media type, and not JSON', { ...page, headers: {} }, 'not-json'],
    ['YAML', { headers: { 'content-type': 'application/yaml' } }, 'media-type'],
    ['encoded in a way that was not asked for', encoded('br'), 'media-type'],
    ['no gzip, although it is said to be', encoded('gzip'), 'not-json'],
    ['gzip of more than is read', { ...encoded('gzip'), body: large }, 'too-large'],
    ['no JSON', { body: '{' }, 'not-json'],
    ['not valid UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, 'not-json'],
    ['an empty body', { body: '' }, 'not-json'],
    ['an announced size', { headers: { ...JSON_TYPE.headers, 'content-length': '1001' } }, 'too-large'],
    ['a size', { body: JSON.stringify('a'.repeat(999)) }, 'too-large'],
  ];
  for (const [what, { status = 200, body = '{}', headers = JSON_TYPE.headers }, expected] of refused) {
    it(`a remote document is refused if it is ${what}`, async (t) => {
      const { documents, site } = mocked(t, { maxBytes: 1000 });
      site.intercept({ path: '/a' }).reply(status, body, { headers });
      assert.equal(await failure(documents.fetch(`${ORIGIN}/a`)), expected);
    });
  }

  it('a remote document is refused if its JSON takes long to read for its size', async (t) => {
    const { documents, site } = mocked(t);
    for (const body of [`[${'[],'.repeat(100_000)}1]`, '['.repeat(600) + ']'.repeat(600)]) {
      site.intercept({ path: '/a' }).reply(200, body, JSON_TYPE);
      assert.equal(await failure(documents.fetch(`${ORIGIN}/a`)), 'too-large');
    }
  });

  it('a remote document may be nested exactly as deeply as can be read quickly', async (t) => {
    const { documents, site } = mocked(t);
    const levels = (count: number) => '['.repeat(count) + ']'.repeat(count);
    for (const [body, isTaken] of [
      [levels(500), true],
      [levels(501), false],
    ] as const) {
      site.intercept({ path: '/a' }).reply(200, body, JSON_TYPE);
      const fetched = documents.fetch(`${ORIGIN}/a`);
      if (isTaken) assert.equal((await fetched).text, body);
      else assert.equal(await failure(fetched), 'too-large');
    }
  });

  it('a remote document is refused if it has more than 5 MiB by default', async (t) => {
    const { documents, site } = mocked(t);
    const document = (bytes: number) => JSON.stringify('a'.repeat(bytes - 2));
    const most = 5 * 1024 * 1024;
    site.intercept({ path: '/a' }).reply(200, document(most), JSON_TYPE);
    assert.equal((await documents.fetch(`${ORIGIN}/a`)).text.length, most);
    site.intercept({ path: '/a' }).reply(200, document(most + 1), JSON_TYPE);
    assert.equal(await failure(documents.fetch(`${ORIGIN}/a`)), 'too-large');
  });
});

describe('the JSON-LD alternate in a Link header', () => {
  for (const [header, target] of [
    ['</ctx.jsonld>; rel="alternate"; type="application/ld+json"', '/ctx.jsonld'],
    ['<https://a.example/x,y>; type=application/ld+json; rel=alternate', 'https://a.example/x,y'],
    ['<a>; rel=next, <b>; title="a, \\"b\\"; c"; REL="ALTERNATE"; type="application/ld+json"', 'b'],
    ['<a>; rel=next, <b>; title="a, b"; REL="ALTERNATE"; type="application/ld+json"', 'b'],
    ['<a>; rel="alternate"; type="text/html", <b>; rel="alternate"', undefined],
    ['', undefined],
    [undefined, undefined],
    ['<'.repeat(16_000), undefined],
  ] as const) {
    it(`the JSON-LD alternate in a Link header is ${target ?? 'none'} in ${(header ?? 'nothing').slice(0, 90)}`, () => {
      assert.equal(alternateOf(header), target);
    });
  }
});
