import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  isOfType,
  isSchema,
  jsonType,
  member,
  objectOf,
  jsonEquals,
  sharingParts,
  stringsOf,
  type JsonValue,
} from '../../../../sidecar/shared/json/json.js';

it('sameJson ignores the order of members, and nothing else', () => {
  assert.ok(jsonEquals({ a: 1, b: [2, { c: null }] }, { b: [2, { c: null }], a: 1 }));
  for (const [one, other] of [
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: 1 }, { b: 1 }],
    [[1], [1, 2]],
    [[1, 2], [1]],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [{ 0: 1 }, [1]],
    [null, {}],
    [null, false],
    [1, '1'],
    [0, false],
    [{ toString: 1 }, {}],
    [{ a: 1 }, JSON.parse('{"__proto__":{"a":1},"b":1}')],
  ] as const) {
    assert.equal(jsonEquals(one, other), false, JSON.stringify([one, other]));
    assert.equal(jsonEquals(other, one), false, JSON.stringify([other, one]));
  }
});

it('sameJson agrees with a comparison of texts whose members are sorted', () => {
  const small = fc.jsonValue({ maxDepth: 3 });
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return { members: members.map(([name, inner]) => [name, sorted(inner)]) };
  };
  fc.assert(
    fc.property(small, small, (one, other) => {
      assert.ok(jsonEquals(one, JSON.parse(JSON.stringify(one))));
      const isEqual = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      assert.equal(jsonEquals(one, other), isEqual);
    }),
  );
});

it('a member of an object is its own, never one that every object inherits', () => {
  const object: Readonly<Record<string, JsonValue>> = { a: 1, b: null };
  assert.equal(member(object, 'a'), 1);
  assert.equal(member(object, 'b'), null);
  for (const name of ['constructor', 'toString', '__proto__', 'c'])
    assert.equal(member(object, name), undefined);
});

it('objectOf makes ordinary members of all names, and the last value of a name counts', () => {
  const object = objectOf([
    ['a', 1],
    ['__proto__', { evil: true }],
    ['a', 2],
  ]);
  assert.equal(JSON.stringify(object), '{"a":2,"__proto__":{"evil":true}}');
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.equal(object['evil'], undefined);
});

it('stringsOf returns the strings of an array, and none for other values', () => {
  assert.deepEqual(stringsOf(['a', 1, null, 'b', ['c']]), ['a', 'b']);
  for (const value of [undefined, 'a', { 0: 'a' }, null, 1]) assert.deepEqual(stringsOf(value), []);
});

for (const [value, type, isInteger] of [
  [null, 'null', false],
  [true, 'boolean', false],
  [1, 'number', true],
  [-1e20, 'number', true],
  [1.5, 'number', false],
  ['1', 'string', false],
  [[1], 'array', false],
  [{ a: 1 }, 'object', false],
] as const) {
  it(`the value ${JSON.stringify(value)} is of the type ${type}${isInteger ? ', and an integer' : ''}`, () => {
    assert.equal(jsonType(value), type);
    const types = ['null', 'boolean', 'number', 'string', 'array', 'object', 'integer'];
    const expected = [type, ...(isInteger ? ['integer'] : [])].sort();
    assert.deepEqual(types.filter((one) => isOfType(value, one)).sort(), expected);
    assert.equal(isSchema(value), type === 'boolean' || type === 'object');
  });
}

it('a value that shares parts with another one is written as before, and takes over what is written alike at the same place', () => {
  fc.assert(
    fc.property(fc.json(), fc.jsonValue(), (json, other) => {
      const one = JSON.parse(json) as JsonValue;
      const text = JSON.stringify(one);
      assert.equal(JSON.stringify(sharingParts(one, other as JsonValue)), text);
      assert.equal(sharingParts(JSON.parse(text) as JsonValue, one), one);
    }),
  );
  const before = { a: { b: [1, { c: 2 }] }, d: { e: 3, f: 4 }, g: [{}, {}] };
  const after = sharingParts(
    { a: { b: [1, { c: 2 }] }, d: { f: 4, e: 3 }, g: [{}] },
    before,
  ) as typeof before;
  assert.equal(after.a, before.a);
  assert.equal(after.g[0], before.g[0]);
  assert.deepEqual(Object.keys(after.d), ['f', 'e']);
});
