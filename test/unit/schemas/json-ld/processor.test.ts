import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
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

it('a JSON-LD processor is loaded without any HTTP client, so it cannot fetch, and workers start soon', async () => {
  const processor = new URL('../../../../sidecar/schemas/json-ld/processor.js', import.meta.url);
  // In a process of its own, because other tests load HTTP clients.
  const program = `
    import { createRequire } from 'node:module';
    await import(${JSON.stringify(processor)});
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  const loaded = JSON.parse(stdout) as readonly string[];
  assert.ok(loaded.some((path) => path.includes('jsonld')));
  assert.deepEqual(
    loaded.filter((path) => /http-client|undici|[/\\]ky[/\\]/.test(path)),
    [],
  );
});
