import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { JsonComplexity } from '../../../sidecar/shared/json-complexity.js';

const [MARKS, DEPTH] = [10_000, 300];

const excessOf = (text: string, pieceBytes = 65_536): string | undefined => {
  const weight = new JsonComplexity({ elements: MARKS, depth: DEPTH });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) weight.add(bytes.subarray(at, at + pieceBytes));
  return weight.exceededLimit;
};

const TOO_MANY = `contains more than ${MARKS} arrays, objects and items`;
const TOO_DEEP = `is nested deeper than ${DEPTH} levels`;

it('a JSON text is too heavy with one array, object or comma more than allowed, wherever they are', () => {
  for (const part of ['[],', '{},', '[[]],', '1,', '{"a":1},']) {
    const marksEach = (part.match(/[[{,]/g) ?? []).length;
    const times = Math.floor((MARKS - 1) / marksEach);
    assert.equal(excessOf(`[${part.repeat(times)}1]`), undefined, part);
    assert.equal(excessOf(`[${part.repeat(times + marksEach)}1]`), TOO_MANY, part);
  }
});

it('a JSON text is too heavy one level below the maximum depth', () => {
  const nested = (levels: number) => `[${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},1]`;
  assert.equal(excessOf(nested(DEPTH)), undefined);
  assert.equal(excessOf(nested(DEPTH + 1)), TOO_DEEP);
  assert.equal(excessOf('{"a":'.repeat(DEPTH + 1)), TOO_DEEP);
});

it('the weight of a JSON text ignores the content of strings, but nothing after them', () => {
  const strings = ['"[[["', '"\\"[["', '"\\\\"', '"é[,\u{1F697}{"', '"\\\\\\"["', '""'];
  const list = `[${strings.join(',')}]`;
  assert.equal(excessOf(`[${list.replaceAll(',', ' , ')}]`.padEnd(1000)), undefined);
  const many = `"${'[,{'.repeat(MARKS)}"`;
  assert.equal(excessOf(many), undefined);
  assert.equal(excessOf(`[${strings.join(',')},${'[],'.repeat(MARKS)}1]`), TOO_MANY);
});

it('the weight of a JSON text does not depend on how the text is split', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 1, max: 7 }), fc.boolean(), (json, pieceBytes, tooDeep) => {
      const levels = tooDeep ? DEPTH + 1 : 1;
      const text = `[${json},${'['.repeat(levels)}`;
      assert.equal(excessOf(text, pieceBytes), excessOf(text));
      assert.equal(excessOf(text), tooDeep ? TOO_DEEP : undefined);
    }),
  );
});

it('the weight of a JSON text counts each comma between strings, whatever quotes and backslashes they contain', () => {
  const strings = fc.array(
    fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', 'a', 'é'), maxLength: 80 }),
    {
      minLength: 1,
    },
  );
  fc.assert(
    fc.property(strings, fc.integer({ min: 1, max: 40 }), (texts, pieceBytes) => {
      const bytes = Buffer.from(JSON.stringify(texts));
      for (const marks of [texts.length, texts.length - 1]) {
        const weight = new JsonComplexity({ elements: marks, depth: 1 });
        for (let at = 0; at < bytes.length; at += pieceBytes) weight.add(bytes.subarray(at, at + pieceBytes));
        assert.equal(weight.exceededLimit === undefined, marks === texts.length);
      }
    }),
  );
});
