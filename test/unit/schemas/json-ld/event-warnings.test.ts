import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventWarnings } from '../../../../sidecar/schemas/json-ld/event-warnings.js';

const event = (code: string, details: Readonly<Record<string, unknown>>, count = 1) => ({
  event: { code, level: 'warning', message: '', details },
  count,
});

describe('the warnings for events of the processor', () => {
  for (const [code, details, warning, sentence] of [
    ['invalid property', { property: 'x' }, 'dropped-member', /^No context defines "x": the member is/],
    ['relative @id reference', { id: 'x' }, 'relative-id', /^The id "x" is not an absolute IRI/],
    ['relative @type reference', { type: 'x' }, 'relative-type', /^No context defines the type "x"\.$/],
    ['relative @vocab reference', { vocab: 'x' }, 'relative-vocab', /^@vocab "x" is not an absolute IRI/],
    ['invalid @language value', { language: 'x' }, 'language-tag', /^"x" is not a language tag/],
    ['reserved term', { term: '@x' }, 'reserved-term', /^The term "@x" is reserved, and left out/],
    ['reserved @reverse value', { reverse: '@x' }, 'reserved-term', /^The term for the reverse of "@x"/],
    ['reserved @id value', { id: '@x' }, 'reserved-id', /^The id "@x" looks like a keyword/],
    ['null @id value', { id: null }, 'dropped-value', /^An id that is null is dropped: null$/],
    ['null @value value', {}, 'dropped-value', /^A @value that is null is dropped, together/],
    ['free-floating scalar', { value: 5 }, 'dropped-value', /^A value outside any member is dropped: 5$/],
    ['empty object', { value: {} }, 'dropped-value', /^An empty object is dropped/],
    ['object with only @id', { value: 1 }, 'dropped-value', /^An object with nothing but an id/],
    ['object with only @language', { value: 1 }, 'dropped-value', /^A language without a text is dropped/],
    ['object with only @list', { value: 1 }, 'dropped-value', /^A list outside any member is dropped/],
    ['object with only @value', { value: 1 }, 'dropped-value', /^A value outside any member is dropped/],
  ] as const) {
    it(`the processor's event "${code}" is a warning of ${warning}`, () => {
      const [found, ...others] = eventWarnings([event(code, details)], {});
      assert.deepEqual([found?.code, others], [warning, []]);
      assert.match(found?.detail ?? '', sentence);
      assert.equal(found?.pointer, undefined);
    });
  }

  it('an event that is not about data is not a warning', () => {
    assert.deepEqual(eventWarnings([event('something else', { property: 'x' })], { x: 1 }), []);
    assert.deepEqual(eventWarnings([], { x: 1 }), []);
  });

  it('a warning points at each affected place: a name, a text also in an array, or a null', () => {
    const document = {
      '@context': { x: 'x' },
      x: { x: 1, id: 'rel' },
      id: 'rel',
      more: [{ x: 2 }, { type: ['T', 'U'], list: ['rel'] }],
      v: { '@value': null },
    };
    const places = (code: string, details: Readonly<Record<string, unknown>>, count: number) =>
      eventWarnings([event(code, details, count)], document).map(({ pointer }) => pointer);
    // The content of a dropped member is dropped with it.
    assert.deepEqual(places('invalid property', { property: 'x' }, 2), ['/document/x', '/document/more/0/x']);
    assert.deepEqual(places('relative @id reference', { id: 'rel' }, 3), [
      '/document/x/id',
      '/document/id',
      '/document/more/1/list/0',
    ]);
    assert.deepEqual(places('relative @type reference', { type: 'U' }, 1), ['/document/more/1/type/1']);
    assert.deepEqual(places('null @value value', {}, 1), ['/document/v/@value']);
  });

  it('a warning has no pointers if there are more or fewer places than events', () => {
    const document = { a: { x: 1 }, b: { x: 1 } };
    for (const [count, pointers] of [
      [1, [undefined]],
      [2, ['/document/a/x', '/document/b/x']],
      [3, [undefined]],
    ] as const)
      assert.deepEqual(
        eventWarnings([event('invalid property', { property: 'x' }, count)], document).map(
          ({ pointer }) => pointer,
        ),
        pointers,
      );
  });
});
