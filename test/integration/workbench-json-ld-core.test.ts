import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContextInvalidError } from '../../sidecar/schemas/json-ld/errors.js';
import { type Outcome, runWithContexts } from '../../sidecar/schemas/json-ld/outcomes.js';
import type { ServiceWorkers } from '../../sidecar/schemas/models/model-tasks.js';
import { TaskTooCostlyError } from '../../sidecar/shared/workers/errors.js';
import { answered, type Body } from '../unit/schemas/json-ld/desk.js';
import { ALLOWED, BASE_URL, rejection, useRigs, type Rig } from '../unit/schemas/models/harness.js';

const OPTIONS = { baseUrl: BASE_URL };

function urlOf(name: string): string {
  return `${BASE_URL}/api/v2/contexts/${name}`;
}

/** Runs a task in a worker with the contexts that the service supplies. */
async function outcomeOf(
  { service: { contextLoader }, workers }: Rig & { readonly workers: ServiceWorkers },
  kind: 'expandDocument' | 'compactDocument',
  body: Body,
): Promise<Outcome> {
  const stamp = await contextLoader.stamp(BASE_URL);
  const text = JSON.stringify(body);
  return runWithContexts<Outcome>(
    (supplied) => workers.run(kind, { text, stamp, supplied }),
    (url) => contextLoader.load(url, BASE_URL),
  );
}

describe('JSON-LD in workers, with the contexts of the service', () => {
  const rigOf = useRigs();

  async function withWorkers(
    t: Parameters<typeof rigOf>[0],
  ): Promise<Rig & { readonly workers: ServiceWorkers }> {
    const held: { workers?: ServiceWorkers } = {};
    const rig = await rigOf(t, {
      workers: (pool) => {
        held.workers = pool;
        return pool;
      },
    });
    assert.ok(held.workers !== undefined);
    return { ...rig, workers: held.workers };
  }

  it('JSON-LD in workers compacts with the context of a model under the URL that the client used', async (t) => {
    const rig = await withWorkers(t);
    await rig.service.models.create('city', { name: 'Bench', schema: { properties: { wood: {} } } });
    const context = [urlOf('city~Bench')];
    const document = {
      '@context': context,
      id: 'urn:x:1',
      type: 'Bench',
      wood: { type: 'Property', value: 'oak' },
    };
    const { result: expanded } = answered(await outcomeOf(rig, 'expandDocument', { document }));
    const { result } = answered(await outcomeOf(rig, 'compactDocument', { document: expanded, context }));
    assert.deepEqual(result, { ...document, '@context': context[0] });
  });

  it('JSON-LD in workers fetches contexts of allowed origins and the contexts that these name, and no others', async (t) => {
    const rig = await withWorkers(t);
    rig.web.set(`${ALLOWED}/a/context`, { '@context': ['terms', { more: 'urn:more' }] });
    rig.web.set(`${ALLOWED}/a/terms`, { '@context': { seats: 'https://far.example/seats' } });
    const document = { '@context': `${ALLOWED}/a/context`, seats: 1 };
    for (const round of [1, 2]) {
      const { result } = answered(await outcomeOf(rig, 'expandDocument', { document }));
      assert.deepEqual(result, [{ 'https://far.example/seats': [{ '@value': 1 }] }], `round ${round}`);
    }
    assert.deepEqual(rig.fetched, [`${ALLOWED}/a/context`, `${ALLOWED}/a/terms`]);
    for (const [url, code] of [
      ['https://else.example/c', 'contextRefused'],
      [`${ALLOWED}/none`, 'contextUnavailable'],
    ] as const) {
      const outcome = await outcomeOf(rig, 'expandDocument', { document: { '@context': url, a: 1 } });
      assert.ok('refused' in outcome);
      assert.deepEqual([outcome.refused.kind, outcome.refused.url], [code, url]);
      assert.ok(outcome.refused.detail.includes(url));
    }
  });
});

describe('a custom context whose processing is too costly', () => {
  const rigOf = useRigs();

  for (const bound of ['time', 'memory'] as const)
    it(`a custom context that takes too much ${bound} to process is invalid`, async (t) => {
      const costly = new TaskTooCostlyError(bound, 'It was ended.');
      const { service } = await rigOf(t, { workers: () => ({ run: () => Promise.reject(costly) }) });
      const refused = await rejection(service.contexts.create('terms', {}, OPTIONS), ContextInvalidError);
      assert.equal(refused.cause, costly);
      assert.equal(refused.errors[0]?.pointer, '/@context');
      assert.match(refused.errors[0].detail, new RegExp(`too much ${bound}`));
    });
});
