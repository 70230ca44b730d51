import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';
import { matchesType, parseTypeSelector, typeNamesOf } from '../../../sidecar/ngsi-ld/type-selector.js';
import { words } from '../../support/words.js';

const selects = (text: string, ...types: string[]) => matchesType(parseTypeSelector(text), types);

it('"," and "|" select either type, and ";" only entities with both', () => {
  for (const either of ['Building,House', 'Building|House']) {
    assert.equal(selects(either, 'House'), true);
    assert.equal(selects(either, 'Home'), false);
  }
  assert.equal(selects('(Home;Vehicle)', 'Home', 'Vehicle', 'Boat'), true);
  assert.equal(selects('(Home;Vehicle)', 'Home'), false);
  assert.equal(selects('(Home;Vehicle)|Motorhome', 'Motorhome'), true);
  assert.equal(selects('Home;Vehicle,Motorhome', 'Vehicle'), false);
  assert.equal(selects('A;(B|C)', 'A', 'C'), true);
});

it('"*" selects every type, and is only valid alone', () => {
  assert.equal(selects('*', 'X'), true);
  for (const text of ['*,A', 'A;*', '(*)', '**', ' *'])
    assert.throws(() => parseTypeSelector(text), NgsiLdSyntaxError, text);
});

it('a type selector compares names exactly, including IRIs', () => {
  assert.equal(selects('https://a.example/ns#Car', 'https://a.example/ns#Car'), true);
  assert.equal(selects('car', 'Car'), false);
  assert.equal(selects('constructor', 'Car'), false);
});

it('an incomplete type selector is refused', () => {
  for (const text of [...words(',A A, A;;B (A A) () "A"'), ...['', 'A B', 'A\u0000', '('.repeat(60_000)]]) {
    assert.throws(() => parseTypeSelector(text), NgsiLdSyntaxError, text.slice(0, 20));
  }
});

it('brackets of a type selector nest a hundred deep and not one deeper', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}A${')'.repeat(depth)}`;
  assert.equal(selects(nested(100), 'A'), true);
  assert.throws(() => parseTypeSelector(nested(101)), /at most 100 nested brackets/);
});

it('the names of a type selector are all listed, each once', () => {
  for (const [text, names] of [
    ['*', []],
    ['A', ['A']],
    ['A,B|A', ['A', 'B']],
    ['(A;B)|(C;(A|D))', ['A', 'B', 'C', 'D']],
  ] as const)
    assert.deepEqual(typeNamesOf(parseTypeSelector(text)), names, text);
});

it('any text is parsed as a type selector or refused with NgsiLdSyntaxError', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('A', 'B', ';', '|', ',', '(', ')', '*') }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      try {
        matchesType(parseTypeSelector(text), ['A']);
      } catch (error) {
        assert.ok(error instanceof NgsiLdSyntaxError);
      }
    }),
  );
});

it('a disjunction of types matches exactly if one of its names is among the types of the entity', () => {
  const names = fc.uniqueArray(fc.constantFrom('A', 'B', 'C', 'D', 'E'), { minLength: 1 });
  fc.assert(
    fc.property(names, names, (selected, types) => {
      const expected = selected.some((name) => types.includes(name));
      assert.equal(selects(selected.join(','), ...types), expected);
      assert.equal(
        selects(`(${selected.join(';')})`, ...types),
        selected.every((name) => types.includes(name)),
      );
    }),
  );
});
