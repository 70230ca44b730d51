import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { isObject } from '../../../../sidecar/shared/json/json.js';
import { Desk } from './desk.js';
import { FEATURES, SHARED } from './features.js';
import { column } from '../../../support/columns.js';

const AT = 'https://contexts.example/';
const EX = 'https://ex.example/';

/** Maps with each keyword that a context may have, and a document for them. */
const KEYWORDS: Readonly<Record<string, object>> = {
  '@vocab': { '@vocab': EX },
  '@vocab null': { '@vocab': null, p: `${EX}p` },
  '@language': { '@language': 'de', p: `${EX}p` },
  '@direction': { '@direction': 'rtl', p: `${EX}p` },
  '@base': { '@base': `${EX}base/`, p: { '@id': `${EX}p`, '@type': '@id' } },
  '@version': { '@version': 1.1, p: `${EX}p` },
  '@propagate': { '@propagate': false, p: `${EX}p` },
  '@protected': { '@protected': true, p: `${EX}p` },
  'all of them': { '@vocab': EX, '@language': 'en', '@base': EX, '@version': 1.1, q: { '@id': 'p' } },
};

/** Keywords that the package forgets, or takes only from the first context, if another context follows. */
const FORGOTTEN = ['@direction', '@propagate'];

const DOCUMENT = { '@id': 'one', '@type': 'T', p: ['a', 1], q: { p: 'b' } };

describe('a context that imports another', () => {
  for (const [name, map] of Object.entries(KEYWORDS))
    it(`an import has the same meaning as the same context by its URL: ${name}`, async () => {
      const desk = new Desk({
        [`${AT}base`]: map,
        [`${AT}importing`]: { '@import': 'base', more: `${EX}more` },
      });
      const document = { ...DOCUMENT, more: true };
      const more = { more: `${EX}more` };
      const alike = [
        { ...map, ...more },
        ...(FORGOTTEN.some((keyword) => keyword in map) ? [] : [[`${AT}base`, more]]),
        { '@import': `${AT}base`, ...more },
        { ...more, '@import': `${AT}base` },
        `${AT}importing`,
        [`${AT}base`, `${AT}importing`],
        [`${AT}importing`, `${AT}importing`],
      ];
      const results = [];
      for (const context of [...alike, ...alike]) {
        const { result } = await desk.expand({ document: { ...document, '@context': context } });
        const compact = (await desk.compact({ document: result, context })).result as object;
        results.push([result, { ...compact, '@context': undefined }]);
      }
      for (const [index, result] of results.entries())
        assert.deepEqual(result, results[0], JSON.stringify(alike[index % alike.length]));
    });

  it('imports of one context with different terms beside it keep these terms', async () => {
    const desk = new Desk({ [`${AT}base`]: { p: `${EX}p` } });
    const context = ['a', 'b'].map((term) => ({ '@import': `${AT}base`, [term]: EX + term }));
    const { result } = await desk.expand({ document: { '@context': context, a: 1, b: 2, p: 3 } });
    const value = (of: number) => [{ '@value': of }];
    assert.deepEqual(result, [{ [`${EX}a`]: value(1), [`${EX}b`]: value(2), [`${EX}p`]: value(3) }]);
  });

  it('an import has the same meaning as the same map in its place, whatever feature it uses', async () => {
    const maps = Object.entries(FEATURES).filter(([, document]) => isObject(document['@context']));
    assert.ok(maps.length > 10);
    const at = (name: string) => `${AT}${encodeURIComponent(name)}`;
    const served = maps.map(([name, document]) => [at(name), document['@context']] as const);
    const desk = new Desk({ ...SHARED, ...Object.fromEntries(served) });
    for (const [name, document] of maps) {
      const imported = { ...document, '@context': { '@import': at(name) } };
      assert.deepEqual(
        (await desk.expand({ document: imported })).result,
        (await desk.expand({ document })).result,
        name,
      );
    }
  });

  it('keywords and terms of a map take precedence over those that it imports', async () => {
    const desk = new Desk({ [AT]: { '@vocab': EX, '@language': 'de', p: `${EX}imported`, q: `${EX}q` } });
    const context = { '@import': AT, '@language': 'en', p: `${EX}own` };
    const { result } = await desk.expand({ document: { '@context': context, p: 'a', q: 1, r: 2 } });
    assert.deepEqual(result, [
      {
        [`${EX}own`]: [{ '@value': 'a', '@language': 'en' }],
        [`${EX}q`]: [{ '@value': 1 }],
        [`${EX}r`]: [{ '@value': 2 }],
      },
    ]);
  });

  it('only a single map can be imported, and none that imports another, whatever was processed before', async () => {
    const [map, list, nested, self] = ['map', 'list', 'nested', 'self'].map((name) => `${AT}${name}`);
    const contexts = {
      [map ?? '']: { p: `${EX}p` },
      [list ?? '']: [{ p: `${EX}p` }, { q: `${EX}q` }],
      [nested ?? '']: { '@import': map },
      [self ?? '']: { '@import': self },
    };
    const desk = new Desk(contexts);
    await desk.expand({ document: { '@context': [map, list, nested], p: 1 } });
    for (const [url, reason] of [
      [list, /cannot be imported/],
      [nested, /must not import another/],
      [self, /must not import another|includes itself/],
    ] as const) {
      const context = { '@import': url };
      const { detail } = await desk.refused('expandDocument', { document: { '@context': context, p: 1 } });
      assert.match(detail, reason);
      await assert.rejects(new Desk(contexts).check(context), (error) => {
        assert.ok(error instanceof ContextInvalidError);
        assert.deepEqual(column(error.errors, 'pointer'), ['/@import']);
        assert.match(error.errors[0]?.detail ?? '', reason);
        return true;
      });
    }
  });
});
