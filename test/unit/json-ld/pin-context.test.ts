import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDocumentLoader } from '../../../sidecar/json-ld/document-loader.js';
import { pinContext } from '../../../sidecar/json-ld/pin-context.js';
import { createProcessor } from '../../../sidecar/json-ld/processor.js';
import { CORE, loaderOf } from './contexts.js';

const CAR = 'http://contexts.example/car';
const PARTS = 'http://contexts.example/parts';

/** Expands a document with one term, through a pinned context. */
async function speedIri(
  processor: ReturnType<typeof createProcessor>,
  context: unknown,
  stored: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const { context: pinned, load } = await pinContext(context, loaderOf(stored));
  const expanded = await processor.expand({ '@context': pinned, speed: 1 }, { documentLoader: load });
  return Object.keys(expanded[0] ?? {})[0];
}

describe('a pinned context', () => {
  for (const [what, context] of [
    ['by its URL', CAR],
    ['in an array', [{ a: 'http://a/' }, CAR, CORE]],
    ['by an import', { '@import': CAR }],
    ['through another context', PARTS],
  ] as const) {
    it(`means what its contents mean, also after they have changed, named ${what}`, async () => {
      const processor = createProcessor();
      const stored = { [CAR]: { speed: 'http://example.org/one' }, [PARTS]: [CAR, { b: 'http://b/' }] };
      assert.equal(await speedIri(processor, context, stored), 'http://example.org/one');
      const changed = { ...stored, [CAR]: { speed: 'http://example.org/two' } };
      assert.equal(await speedIri(processor, context, changed), 'http://example.org/two');
      assert.equal(await speedIri(processor, context, stored), 'http://example.org/one');
    });
  }

  it('is processed once, however often it is used', async () => {
    const processor = createProcessor();
    const loaded: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      const pinned = await pinContext(
        PARTS,
        loaderOf({ [CAR]: { speed: 'http://s/' }, [PARTS]: [CAR, CORE] }),
      );
      await processor.expand(
        { '@context': pinned.context, speed: 1 },
        {
          documentLoader: async (url) => {
            loaded.push(url);
            return pinned.load(url);
          },
        },
      );
    }
    // Once each: the context, the one it names, the core context, and what the latter needs.
    assert.equal(new Set(loaded).size, loaded.length);
    assert.ok(loaded.every((url) => !url.startsWith('http://contexts.example/')));
  });

  it('has URLs that name contents: equal ones for equal contents, whatever they are stored under', async () => {
    const load = loaderOf({
      [CAR]: { a: 'http://a/' },
      [PARTS]: { a: 'http://a/' },
      'http://c/': { a: 'http://b/' },
    });
    const { context } = await pinContext([CAR, PARTS, 'http://c/'], load);
    const [car, parts, other] = context as readonly string[];
    assert.match(car ?? '', /^urn:ngsi-ld-gateway:context:sha256:[0-9a-f]{64}$/);
    assert.equal(car, parts);
    assert.notEqual(car, other);
  });

  it('keeps the URLs of bundled contexts', async () => {
    assert.deepEqual((await pinContext([CORE, {}], loaderOf())).context, [CORE, {}]);
  });

  it('finds contexts that others name relative to themselves', async () => {
    const stored = {
      [PARTS]: ['car', { '@import': '/base' }],
      [CAR]: { speed: 'http://s/' },
      'http://contexts.example/base': {},
    };
    assert.equal(await speedIri(createProcessor(), PARTS, stored), 'http://s/');
  });

  it('leaves the rest of a document and of the context untouched', async () => {
    const context = [{ a: CAR, '@vocab': CAR, '@base': CAR, b: { '@id': CAR, '@type': CAR } }];
    const pinned = await pinContext(context, loaderOf({ [CAR]: {} }));
    assert.deepEqual(pinned.context, context);
  });

  it('reaches scoped contexts', async () => {
    const context = { part: { '@id': 'http://part/', '@context': CAR } };
    const { context: pinned, load } = await pinContext(context, loaderOf({ [CAR]: { speed: 'http://s/' } }));
    const expanded = await createProcessor().expand(
      { '@context': pinned, part: { speed: 1 } },
      { documentLoader: load },
    );
    assert.deepEqual(expanded, [{ 'http://part/': [{ 'http://s/': [{ '@value': 1 }] }] }]);
    assert.ok(!JSON.stringify(pinned).includes(CAR));
  });

  it('follows no endless chain', async () => {
    let loads = 0;
    const load = createDocumentLoader({
      resolve: async (url) => {
        loads += 1;
        return { '@context': [`${url}/next`] };
      },
    });
    assert.deepEqual((await pinContext([CAR], load)).context, [CAR]);
    assert.ok(loads < 100);
  });

  it('leaves URLs as they are that lead nowhere or in a circle, for the processor to judge', async () => {
    const stored = {
      [CAR]: { car: { '@id': 'http://car/', '@context': PARTS } },
      [PARTS]: { part: { '@id': 'http://part/', '@context': CAR } },
    };
    for (const context of [['http://nowhere.example/'], [CAR], PARTS]) {
      assert.deepEqual((await pinContext(context, loaderOf(stored))).context, context);
    }
    // Scoped contexts may go in a circle.
    const { context, load } = await pinContext(CAR, loaderOf(stored));
    const document = { '@context': context, car: { part: { car: 1 } } };
    assert.deepEqual(await createProcessor().expand(document, { documentLoader: load }), [
      { 'http://car/': [{ 'http://part/': [{ 'http://car/': [{ '@value': 1 }] }] }] },
    ]);
  });
});
