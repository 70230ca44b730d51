import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { hasInvalidHeader, formOf, queryOf, unitOf } from '../../../console/purge/form.js';
import { duration } from '../../../console/shared/format.js';
import { readableQuery } from '../../../sidecar/shared/readable-query.js';
import { invalidCharacter } from '../../../console/shared/header-value.js';
import { unicodeText } from '../../support/unicode-text.js';

it('a text is refused before it is sent exactly if fetch or the gateway would refuse it', () => {
  for (const good of ['', 'madrid', ' madrid ', 'a b', '~!*', 'x'.repeat(4000)])
    assert.equal(invalidCharacter(good), undefined, good);
  for (const [bad, character] of [
    ['Мадрид', '“М” (U+041C)'],
    ['münchen', '“ü” (U+00FC)'],
    ['a\u{1f600}b', '“\u{1f600}” (U+1F600)'],
    ['a\tb', '“\t” (U+0009)'],
    ['a\r\nX-Gateway-Token: b', '“\r” (U+000D)'],
    ['a\0', '“\0” (U+0000)'],
    ['a\x7fb', '“\x7f” (U+007F)'],
  ] as const)
    assert.equal(invalidCharacter(bad), character);
  fc.assert(
    fc.property(unicodeText(), (text) => {
      if (invalidCharacter(text) === undefined) new Headers({ 'ngsild-tenant': text.trim() });
    }),
  );
});

it('a form with an invalid tenant or context sends no request', () => {
  assert.ok(hasInvalidHeader(formOf('entities', 'type=Car', { tenant: 'Мадрид' })));
  assert.ok(hasInvalidHeader(formOf('entities', 'type=Car', { link: '<https://example.org/ü>' })));
  assert.ok(!hasInvalidHeader(formOf('entities', 'q=name=="ü"', { tenant: 'madrid' })));
});

it('a query is shown decoded, except for characters that would change it or are invisible', () => {
  for (const [query, shown] of [
    ['type=Car&q=speed%3C30', 'type=Car&q=speed<30'],
    ['q=name%3D%3D%22M%C3%BCnchen%20Ost%22', 'q=name=="München Ost"'],
    ['q=a%3D%3D%22x%26type%3D*%22', 'q=a=="x%26type=*"'],
    ['q=a%2525%2Bb%23', 'q=a%2525%2Bb%23'],
    ['q=%E2%80%AEx%00%0A%EF%BB%BF', 'q=%E2%80%AEx%00%0A%EF%BB%BF'],
    ['q=%FF%zz%', 'q=%FF%zz%'],
  ] as const)
    assert.equal(readableQuery(query), shown);
});

it('half a surrogate pair in a field still makes a query', () => {
  const form = formOf('entities', 'type=Car');
  assert.equal(queryOf({ ...form, fields: { q: 'a\ud83d' } }), 'q=a%EF%BF%BD');
  assert.equal(queryOf({ ...form, fields: { q: '\u{1f600}' } }), 'q=%F0%9F%98%80');
});

it('counts of a purge that drops or keeps attributes are in attributes', () => {
  assert.equal(unitOf(formOf('entities', 'type=Car&drop=speed'), undefined), 'attributes');
  assert.equal(unitOf(formOf('entities', 'type=Car&keep=speed'), undefined), 'attributes');
  assert.equal(unitOf(formOf('entities', 'type=Car'), undefined), 'entities');
  assert.equal(unitOf(formOf('temporal', 'type=Car'), 'instances'), 'instances');
});

it('a duration is in suitable units, and never has sixty seconds or sixty minutes in it', () => {
  for (const [milliseconds, words] of [
    [0, '0 ms'],
    [999, '999 ms'],
    [4249, '4.2 s'],
    [190_000, '3 min 10 s'],
    [7_500_000, '2 h 5 min'],
    [999.7, '1.0 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [119_999, '2 min 0 s'],
    [3_599_700, '1 h 0 min'],
    [86_399_000, '23 h 59 min'],
    [90_000_000, '25 h 0 min'],
    [-5, '0 ms'],
  ] as const)
    assert.equal(duration(milliseconds), words);
});
