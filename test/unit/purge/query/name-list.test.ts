import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkName } from '../../../../sidecar/purge/query/parameters.js';
import { itemsOf, namesOf } from '../../../../sidecar/purge/query/index.js';
import { assertRefused } from '../refusals.js';

const EXPECTED = 'an attribute name such as speed';
const given = (value: string) => new Map([['drop', value]]);

it('a comma list of names may be missing, or gives its names in order', () => {
  assert.equal(namesOf(new Map(), 'drop'), undefined);
  assert.equal(itemsOf(new Map([['keep', 'a']]), 'drop'), undefined);
  assert.deepEqual(namesOf(given('b,a,https://x/y'), 'drop'), ['b', 'a', 'https://x/y']);
});

it('a comma list of names refuses blanks and empty items, wherever they stand', () => {
  for (const value of [',', 'a,', ',a', 'a,,b', 'a, b', ' a', 'a\tb', 'a,b\u00a0']) {
    const error = assertRefused(() => itemsOf(given(value), 'drop'), 'badRequestData', 'drop');
    assert.match(error.message, /without spaces or empty items/, JSON.stringify(value));
  }
});

it('a comma list of names refuses more than a thousand names', () => {
  const list = (length: number) => Array.from({ length }, (_, index) => `a${index}`).join(',');
  assert.equal(itemsOf(given(list(1000)), 'drop')?.length, 1000);
  const error = assertRefused(() => itemsOf(given(list(1001)), 'drop'), 'badRequestData', 'drop');
  assert.match(error.message, /at most 1000 names; this list has 1001/);
});

it('a comma list of names refuses an invalid name, even the last', () => {
  assertRefused(() => namesOf(given('a,b,c*'), 'drop'), 'badRequestData', 'drop');
});

it('a name that is refused is reported with the reason', () => {
  for (const [name, fault] of [
    ['a'.repeat(2049), /longer than 2048 characters/],
    ['owner{name}', /braces select linked entities/],
    ['}', /braces/],
    ['a*', /wildcards are not supported/],
    ['a[b', /brackets select part of a value/],
    ['a]', /brackets/],
    ['a!', /a name has letters/],
  ] as const) {
    const error = assertRefused(() => checkName(name, 'attrs', EXPECTED), 'badRequestData', 'attrs');
    assert.match(error.message, fault);
    assert.ok(error.message.startsWith(`attrs: "${name.slice(0, 200)}" is not ${EXPECTED}, or an IRI: `));
    assert.ok(error.message.length < 400);
  }
  checkName('a'.repeat(2048), 'attrs', EXPECTED);
});
