import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import { isWhole } from '../../../../sidecar/schemas/json-ld/context-form.js';
import {
  type Embed,
  embedded,
  EndlessContextError,
} from '../../../../sidecar/schemas/json-ld/compose-context.js';

const AT = 'https://a.example/dir';

/** Contexts by their names below AT. */
const embedOf =
  (contexts: Readonly<Record<string, JsonValue>>): Embed =>
  (url) => {
    if (url.endsWith('/kept')) return 'keep';
    if (url.endsWith('/dropped')) return 'drop';
    const context = contexts[url.slice(AT.length + 1)];
    assert.ok(context !== undefined, url);
    return { context, documentUrl: url };
  };

describe('a context with others in the place of their URLs', () => {
  it('a context has the documents of others in their places, relative to where each was found', () => {
    const embed = embedOf({
      one: [{ a: 'urn:a' }, 'sub/two'],
      'sub/two': ['three', { b: 'urn:b' }],
      'sub/three': { c: 'urn:c' },
    });
    assert.deepEqual(embedded([`${AT}/one`, { d: 'urn:d' }], embed), [
      ...[{ a: 'urn:a' }, { c: 'urn:c' }, { b: 'urn:b' }, { d: 'urn:d' }],
    ]);
  });

  it('a context keeps the URLs that are to stay, leaves out those that are not, and passes on null', () => {
    const given = [`${AT}/kept`, null, `${AT}/dropped`, { a: 'urn:a' }];
    assert.deepEqual(embedded(given, embedOf({})), [`${AT}/kept`, null, { a: 'urn:a' }]);
  });

  it('a map that imports another has its members, of which its own win', () => {
    const embed = embedOf({ base: { a: 'urn:imported', b: 'urn:b' }, list: [{ c: 'urn:c' }] });
    const map = { '@import': `${AT}/base`, a: 'urn:own' };
    assert.deepEqual(embedded(map, embed), [{ a: 'urn:own', b: 'urn:b' }]);
    const list = { '@import': `${AT}/list`, a: 'urn:own' };
    assert.deepEqual(embedded(list, embed), [{ a: 'urn:own', c: 'urn:c' }]);
  });

  it('a map that imports a URL which is to stay goes on importing it, and is not whole', () => {
    const kept = { '@import': `${AT}/kept`, a: 'urn:own' };
    assert.deepEqual(embedded(kept, embedOf({})), [kept]);
    assert.deepEqual(embedded({ ...kept, '@import': `${AT}/dropped` }, embedOf({})), [{ a: 'urn:own' }]);
    for (const [elements, expected] of [
      [[kept], false],
      [[`${AT}/kept`, { a: 'urn:a' }], false],
      [[{ a: 'urn:a' }, null], true],
    ] as const)
      assert.equal(isWhole(elements), expected);
  });

  it('a URL that is imported is relative to the document in which it stands', () => {
    const embed = embedOf({ 'sub/one': { '@import': 'two', a: 'urn:a' }, 'sub/two': { b: 'urn:b' } });
    assert.deepEqual(embedded(`${AT}/sub/one`, embed), [{ b: 'urn:b', a: 'urn:a' }]);
  });

  it('scoped contexts and wrapped ones are embedded too', () => {
    const embed = embedOf({ one: { a: 'urn:a' }, two: [{ b: 'urn:b' }, { c: 'urn:c' }] });
    const scoped = (context: JsonValue) => ({ t: { '@id': 'urn:t', '@context': context } });
    assert.deepEqual(embedded(scoped(`${AT}/one`), embed), [scoped({ a: 'urn:a' })]);
    assert.deepEqual(embedded(scoped(`${AT}/two`), embed), [scoped([{ b: 'urn:b' }, { c: 'urn:c' }])]);
    assert.deepEqual(embedded(scoped(`${AT}/dropped`), embed), [scoped([])]);
    assert.deepEqual(embedded(scoped(null), embed), [scoped(null)]);
    assert.deepEqual(embedded({ '@context': `${AT}/one` }, embed), [{ a: 'urn:a' }]);
  });

  it('contexts may lead to each other twelve deep, and no further', () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, n): [string, JsonValue] => [
          String(n),
          n + 1 < length ? String(n + 1) : { a: 'urn:a' },
        ]),
      );
    assert.deepEqual(embedded(`${AT}/0`, embedOf(chain(12))), [{ a: 'urn:a' }]);
    assert.throws(() => embedded(`${AT}/0`, embedOf(chain(13))), EndlessContextError);
    const circle: JsonValue = { t: { '@id': 'urn:t', '@context': `${AT}/circle` } };
    assert.throws(() => embedded(circle, embedOf({ circle })), EndlessContextError);
  });
});
