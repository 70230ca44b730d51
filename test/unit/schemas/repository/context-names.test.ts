import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contextNamesIn, withAbsoluteNames } from '../../../../sidecar/schemas/repository/context-names.js';

const BASE = 'https://a.example/city/Lamp/context.jsonld';

const context = (...names: readonly string[]) => [
  names[0] ?? '',
  {
    '@import': names[1] ?? '',
    // Values of terms are not names of contexts.
    power: 'terms/power',
    lamp: { '@id': 'terms/lamp', '@context': [names[2] ?? '', { seat: { '@context': names[3] ?? '' } }] },
  },
];

describe('the names of contexts in a context', () => {
  it('the names of contexts in a context are those in arrays, of @import and of scoped contexts', () => {
    assert.deepEqual(contextNamesIn(context('../a', 'b', 'https://c.example/c', 'd')), [
      '../a',
      'b',
      'https://c.example/c',
      'd',
    ]);
    assert.deepEqual(contextNamesIn({ a: 'https://terms.example/a' }), []);
    assert.deepEqual(contextNamesIn(undefined), []);
  });

  it('the names of contexts in a context become absolute, and nothing else in the context changes', () => {
    assert.deepEqual(
      withAbsoluteNames(context('../a', 'b', 'https://c.example/c', '/d'), BASE),
      context(
        'https://a.example/city/a',
        'https://a.example/city/Lamp/b',
        'https://c.example/c',
        'https://a.example/d',
      ),
    );
    assert.equal(withAbsoluteNames('../a', BASE), 'https://a.example/city/a');
    assert.equal(withAbsoluteNames(null, BASE), null);
  });
});
