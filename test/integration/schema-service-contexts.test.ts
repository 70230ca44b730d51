import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContextInvalidError } from '../../sidecar/schemas/json-ld/errors.js';
import { InUseError } from '../../sidecar/store/errors.js';
import { ALLOWED, BASE_URL, jsonOf, rejection, useRigs } from '../unit/schemas/models/harness.js';

const TERMS = { seats: 'https://terms.example/seats' };
const OPTIONS = { baseUrl: BASE_URL };

function urlOf(name: string): string {
  return `${BASE_URL}/api/v2/contexts/${name}`;
}

describe('contexts that refer to others', () => {
  const rigOf = useRigs();

  it('contexts may name others by any URL of this service, but not by a URL of another origin', async (t) => {
    const { service, web, fetched } = await rigOf(t);
    await service.contexts.create('base', TERMS, OPTIONS);
    await service.contexts.create('inside', 'http://10.0.0.7:8080/gate/api/v2/contexts/base', OPTIONS);
    const used = await rejection(service.contexts.delete('base'), InUseError);
    assert.deepEqual(used.dependents, [{ kind: 'context', name: 'inside', version: 1 }]);
    await service.contexts.delete('inside');

    const foreign = `${ALLOWED}/api/v2/contexts/base`;
    web.set(foreign, { '@context': { other: 'https://terms.example/other' } });
    await service.contexts.create('outside', [foreign], OPTIONS);
    assert.deepEqual(fetched, [foreign]);
    await service.contexts.delete('base');
    await service.contexts.create('home', foreign, { baseUrl: ALLOWED }).then(
      () => assert.fail('its own context was deleted'),
      (error: unknown) => assert.ok(error instanceof ContextInvalidError),
    );
    assert.deepEqual(fetched, [foreign]);
  });

  it('contexts may name any version of the core context, by its own URL or by a URL of this service', async (t) => {
    const { service } = await rigOf(t);
    const etsi = (version: string) =>
      `https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v${version}.jsonld`;
    const contexts = ['1.3', '1.7', '1.8', '1.9'].flatMap((version) => [
      etsi(version),
      [TERMS, etsi(version)],
      [TERMS, urlOf(`ngsi-ld-core-context-v${version}`)],
      [TERMS, `${urlOf(`ngsi-ld-core-context-v${version}`)}?version=1`],
    ]);
    for (const [index, context] of contexts.entries()) {
      const { warnings } = await service.contexts.create(`c${index}`, context, OPTIONS);
      assert.deepEqual(warnings, []);
      assert.deepEqual(jsonOf(await service.contexts.document(`c${index}`)), { '@context': context });
    }
  });

  it('contexts that name unavailable contexts are refused with the reasons', async (t) => {
    const { service, fetched } = await rigOf(t);
    const urls = [
      urlOf('none'),
      `${urlOf('ngsi-ld-core-context-v1.8')}?version=2`,
      'https://else.example/c',
      `${ALLOWED}/c`,
    ];
    const refused = await rejection(service.contexts.create('terms', urls, OPTIONS), ContextInvalidError);
    assert.deepEqual(
      refused.errors.map(({ pointer }) => pointer),
      ['/@context/0', '/@context/1', '/@context/2', '/@context/3'],
    );
    assert.match(refused.errors[3]?.detail ?? '', /answers 404/);
    assert.deepEqual(fetched, [`${ALLOWED}/c`]);
  });

  it('contexts cannot name themselves, directly or through others, except in a fixed version', async (t) => {
    const { service } = await rigOf(t);
    await rejection(service.contexts.create('a', urlOf('a'), OPTIONS), ContextInvalidError);
    await service.contexts.create('a', TERMS, OPTIONS);
    await service.contexts.create('b', [urlOf('a'), TERMS], OPTIONS);
    for (const url of [urlOf('a'), 'http://10.0.0.7/api/v2/contexts/a', urlOf('b')]) {
      const refused = await rejection(
        service.contexts.update('a', [url, TERMS], OPTIONS),
        ContextInvalidError,
      );
      assert.equal(refused.errors[0]?.pointer, '/@context/0', url);
    }
    await service.contexts.update(
      'a',
      [`${urlOf('a')}?version=1`, { more: 'https://terms.example/more' }],
      OPTIONS,
    );
    await service.contexts.delete('b');
    await service.contexts.delete('a');
  });
});
