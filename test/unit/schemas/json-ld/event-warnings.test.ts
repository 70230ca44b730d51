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
});
