import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { createProcessor, type ProcessorOptions } from '../../../../sidecar/schemas/json-ld/processor.js';
import { listening } from '../../../support/listening.js';

describe('a processor', () => {
  it('a processor never fetches anything itself, not even without a loader', async (t) => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/ld+json' }).end('{"@context": {}}');
    });
    const { url, close } = await listening(server);
    t.after(close);

    const noOptions = {} as ProcessorOptions;
    const processor = createProcessor();
    for (const context of [url, { '@import': url }, { a: { '@id': 'http://a/', '@context': url } }]) {
      await assert.rejects(processor.expand({ '@context': context, 'http://a/': 1 }, noOptions));
      await assert.rejects(processor.compact({ 'http://a/': 1 }, context, noOptions));
    }
    assert.equal(requests, 0);
  });
});
