import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import {
  CORE_CONTEXT_VERSIONS,
  coreContext,
  coreContextUrls,
} from '../../../../sidecar/schemas/json-ld/core-context.js';
import {
  createDocumentLoader,
  createProcessor,
  type ProcessorOptions,
} from '../../../../sidecar/schemas/json-ld/processor.js';
import { ContextFailureError } from '../../../../sidecar/schemas/json-ld/errors.js';

const URL = 'http://contexts.example/parking';

describe('the document loader', () => {
  it('the document loader returns the bundled contexts by all their URLs, without asking', async () => {
    const load = createDocumentLoader({ resolve: () => assert.fail('was asked') });
    for (const version of CORE_CONTEXT_VERSIONS) {
      for (const url of coreContextUrls(version)) {
        const document = coreContext(version);
        assert.deepEqual(await load(url), { documentUrl: url, document, tag: 'static' });
      }
    }
    assert.equal((await load('https://w3id.org/security/data-integrity/v2')).tag, 'static');
  });

  it('the document loader returns what other URLs resolve to, and caches none of it', async () => {
    const document = { '@context': { a: 'http://example.org/a' } };
    const load = createDocumentLoader({ resolve: async (url) => (url === URL ? document : undefined) });
    assert.deepEqual(await load(URL), { documentUrl: URL, document });
  });

  it('the document loader refuses a URL that resolves to nothing, naming it', async () => {
    const load = createDocumentLoader({ resolve: async () => undefined });
    await assert.rejects(load(URL), (error) => {
      assert.ok(error instanceof ContextFailureError);
      assert.equal(error.kind, 'contextRefused');
      assert.equal(error.url, URL);
      assert.ok(error.message.includes(URL));
      return true;
    });
  });

  for (const [what, document] of [
    ['no object', ['http://example.org/']],
    ['null', null],
    ['without @context', { a: 'http://example.org/a' }],
    ['too much', { '@context': Array.from({ length: 101 }, () => ({})) }],
    ['hostile to processors', { '@context': { hasOwnProperty: 'http://example.org/' } }],
  ] as const) {
    it(`the document loader refuses a document that is ${what}, naming its URL`, async () => {
      const load = createDocumentLoader({ resolve: async () => document });
      await assert.rejects(
        load(URL),
        (error) =>
          error instanceof ContextFailureError && error.kind === 'contextInvalid' && error.url === URL,
      );
    });
  }

  it('the document loader passes on errors of the resolver', async () => {
    const broken = new Error('database is locked');
    const load = createDocumentLoader({ resolve: () => Promise.reject(broken) });
    await assert.rejects(load(URL), broken);
  });
});

describe('a processor', () => {
  it('a processor never fetches anything by itself, not even without a loader', async (t) => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/ld+json' }).end('{"@context": {}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/context`;

    const noOptions = {} as ProcessorOptions;
    const processor = createProcessor();
    for (const context of [url, { '@import': url }, { a: { '@id': 'http://a/', '@context': url } }]) {
      await assert.rejects(processor.expand({ '@context': context, 'http://a/': 1 }, noOptions));
      await assert.rejects(processor.compact({ 'http://a/': 1 }, context, noOptions));
    }
    assert.equal(requests, 0);
  });
});
