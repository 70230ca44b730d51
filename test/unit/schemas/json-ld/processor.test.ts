import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createProcessor, type ProcessorOptions } from '../../../../sidecar/schemas/json-ld/processor.js';

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
