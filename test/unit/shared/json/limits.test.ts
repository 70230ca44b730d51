import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { exceededJsonLimit } from '../../../../sidecar/shared/json/limits.js';

const [MARKS, DEPTH] = [10_000, 300];

const excessOf = (text: string): string | undefined =>
  exceededJsonLimit(Buffer.from(text), { elements: MARKS, depth: DEPTH });

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

it('the depth of a JSON text is that of its deepest part, whatever precedes it', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (json, isTooDeep) => {
      const text = `[${json.padEnd(DEPTH)},${'['.repeat(isTooDeep ? DEPTH : 1)}`;
      assert.equal(excessOf(text), isTooDeep ? TOO_DEEP : undefined);
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
    fc.property(strings, (texts) => {
      const bytes = Buffer.from(JSON.stringify(texts));
      for (const elements of [texts.length, texts.length - 1])
        assert.equal(
          exceededJsonLimit(bytes, { elements, depth: 1 }) === undefined,
          elements === texts.length,
        );
    }),
  );
});
