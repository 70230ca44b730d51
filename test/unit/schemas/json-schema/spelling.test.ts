import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Spelling, SPELLING_LIMITS } from '../../../../sidecar/schemas/json-schema/spelling.js';
import { misspellingDistance } from '../../../../sidecar/shared/misspelling.js';

const nearest = (word: string, candidates: readonly string[]) => new Spelling().nearest(word, candidates);

describe('the nearest word', () => {
  it('the nearest word to a mistyped one is found: letters missing, added, replaced, swapped, or in the wrong case', () => {
    const words = ['speed', 'status', 'owner', 'location'];
    for (const [written, meant] of [
      ['sped', 'speed'],
      ['speeed', 'speed'],
      ['spead', 'speed'],
      ['sepeed', 'speed'],
      ['Owner', 'owner'],
      ['onwer', 'owner'],
      ['loaction', 'location'],
      ['lcoatoin', 'location'],
      ['altitude', undefined],
    ] as const)
      assert.equal(nearest(written, words), meant, written);
  });

  it('the nearest word is not suggested for short words with a wrong letter, nor for very long ones', () => {
    assert.equal(nearest('ab', ['ac']), undefined);
    assert.equal(nearest('AB', ['ab']), 'ab');
    assert.equal(nearest('abd', ['abc']), 'abc');
    assert.equal(nearest('x'.repeat(101), ['x'.repeat(101)]), undefined);
  });

  it('the nearest word is the nearer of two, in any order', () => {
    assert.equal(nearest('occupied', ['occupyed2', 'occupyed']), 'occupyed');
    assert.equal(nearest('occupied', ['occupyed', 'occupyed2']), 'occupyed');
  });

  it('the nearest word agrees with a plain table of distances, up to the maximum distance', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    fc.assert(
      fc.property(word, word, (one, other) => {
        const most = Math.min(3, Math.floor(Math.max(one.length, other.length) / 3));
        const plain = plainDistance(one, other);
        assert.equal(misspellingDistance(one, other), plain > most ? Infinity : plain);
      }),
      { numRuns: 3000 },
    );
  });

  it('the nearest word comes before all other similar ones', () => {
    const found = new Spelling().near('color', ['shape', 'colour', 3, 'COLOR', 'size']);
    assert.deepEqual(found, ['COLOR', 'colour']);
  });

  it('the nearest word is searched a limited number of times, and not at all in long lists', () => {
    const { comparisons, candidates } = SPELLING_LIMITS;
    const spelling = new Spelling();
    const list = (index: number) => Array.from({ length: 100 }, (_, other) => `words${index}x${other}`);
    for (let index = 0; spelling.left > 0; index += 1) {
      assert.ok(index < comparisons);
      spelling.nearest('wordsaax1', list(index));
    }
    assert.equal(spelling.nearest('sped', ['speed']), undefined);
    const long = [...Array.from({ length: candidates }, (_, index) => `value${index}`), 'speed'];
    assert.equal(new Spelling().nearest('sped', long.slice(1)), 'speed');
    const other = new Spelling();
    assert.equal(other.nearest('sped', long), undefined);
    assert.equal(other.left, comparisons);
    assert.equal(other.nearest('sped', ['speed']), 'speed');
  });

  it('the nearest word is searched once for each word and list', () => {
    const spelling = new Spelling();
    const list = ['speed', 'spread'];
    assert.equal(spelling.nearest('sped', list), 'speed');
    const { left } = spelling;
    assert.equal(spelling.nearest('sped', list), 'speed');
    assert.equal(spelling.left, left);
  });
});

function plainDistance(one: string, other: string): number {
  const table = new Map<string, number>();
  const at = (row: number, column: number): number => {
    if (row === 0 || column === 0) return row + column;
    const key = `${row} ${column}`;
    const known = table.get(key);
    if (known !== undefined) return known;
    const isSame = one[row - 1] === other[column - 1];
    const isSwapped =
      row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
    const found = Math.min(
      at(row - 1, column) + 1,
      at(row, column - 1) + 1,
      at(row - 1, column - 1) + (isSame ? 0 : 1),
      isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
    );
    table.set(key, found);
    return found;
  };
  return at(one.length, other.length);
}
