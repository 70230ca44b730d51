import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { changedPointers } from '../../../../sidecar/schemas/json-schema/tasks.js';
import {
  compareNumbers,
  isMultiple,
  isNumber,
  isOfType,
  jsonType,
  type JsonObject,
  type JsonValue,
  LosslessNumber,
  jsonEquals,
} from '../../../../sidecar/shared/json/json.js';
import {
  canonicalJson,
  hasLosslessNumber,
  tryParseJson,
  losslessNumbersIn,
  parseJson,
  parseToKeep,
  parseWithDoubles,
  intersection,
  withDoubles,
} from '../../../../sidecar/shared/json/lossless-json.js';
import { readJson } from '../../../../sidecar/shared/json/strict-json.js';
import { words } from '../../../support/words.js';

/** Number literals, of which some fit into a double and some do not. */
const literals = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.stringMatching(/^-?[1-9]\d{0,25}\.\d{1,25}$/),
  fc.stringMatching(/^-?[1-9]\.\d{1,20}[eE]-?[12]?\d\d$/),
  fc.constantFrom('9007199254740992', '9007199254740993', '9223372036854775807', '0', '1e-400', '1.0'),
);

/** A JSON text that contains numbers of any length, and their literals. */
const texts = fc
  .tuple(
    fc.jsonValue({ stringUnit: 'binary' }).filter((value) => !JSON.stringify(value).includes('__proto__')),
    fc.array(fc.tuple(fc.string(), literals), { maxLength: 5 }),
  )
  .map(([value, numbers]) => {
    const members = numbers.map(
      ([name, literal], index) => `${JSON.stringify(`${name}${index}`)}: [${literal}]`,
    );
    return { text: `{"@": ${JSON.stringify(value)}${members.map((one) => `,${one}`).join('')}}`, numbers };
  });

const parsed = (text: string): JsonValue => parseJson(text) as JsonValue;

it('a text that is read and written keeps its numbers, and otherwise equals the result of JSON.parse and JSON.stringify', () => {
  fc.assert(
    fc.property(texts, ({ text, numbers }) => {
      const value = parsed(text);
      const written = JSON.stringify(value);
      assert.deepEqual(withDoubles(value), JSON.parse(text));
      assert.deepEqual(JSON.parse(written), JSON.parse(text));
      assert.equal(JSON.stringify(parsed(written)), written);
      for (const [index, [name, literal]] of numbers.entries()) {
        const [found] = (value as Record<string, JsonValue>)[`${name}${index}`] as readonly JsonValue[];
        assert.ok(found !== undefined && isNumber(found));
        const isSame = compareNumbers(found, new LosslessNumber(literal)) === 0;
        assert.ok(isSame, `${literal} is read as ${String(found)}`);
      }
      assert.deepEqual(readJson(text), { value });
    }),
  );
});

it('numbers are kept exact only if a double would change them', () => {
  for (const literal of words(`
      1.0 1e2 0.1 1E30 123456789.1234567 9007199254740992 -0.0 5e-324
    `))
    assert.equal(typeof parsed(literal), 'number', literal);
  for (const literal of words(`
    9007199254740993 -9223372036854775807 9007199254740992.5 0.1000000000000000055 1e-400 1152921504606846976
    12345678901234567.0e-3
  `)) {
    const value = parsed(` [ ${literal} ]`);
    assert.equal(JSON.stringify(value), `[${literal}]`);
    assert.ok(hasLosslessNumber(value));
  }
  // Another notation of a number that a double holds.
  assert.equal(parsed('9007199254740992.0000000000000000'), 9007199254740992);
});

it('a number is kept exact wherever it stands in a text', () => {
  for (const number of ['9007199254740993', '1.000000000000000000001', '1e999'])
    for (let before = 0; before <= 32; before += 1) {
      const text = `["${'x'.repeat(before)}",${number}]`;
      assert.equal(JSON.stringify(parseToKeep(text)), text);
      assert.equal(JSON.stringify(parseToKeep(text.slice(0, -1) + ',1]')), text.slice(0, -1) + ',1]');
    }
});

it('numbers with an exponent of ten digits are refused without being computed', () => {
  for (const exponent of ['-9999999999', `-${'9'.repeat(400)}`]) {
    const text = `[1, 1e${exponent}]`;
    for (const anyNumber of [true, false])
      assert.deepEqual(readJson(text, { anyNumber }), {
        unreadable: {
          line: 1,
          column: 5,
          detail: 'the exponent of the number is too large',
          isTooDeep: false,
        },
      });
    assert.throws(() => parseJson(text), SyntaxError);
  }
  const tiny = parsed('1e-999999999');
  assert.ok(isNumber(tiny) && compareNumbers(tiny, 0) > 0 && isMultiple(3, tiny));
});

it('strings that look like numbers or like invalid JSON are left unchanged', () => {
  for (const text of [
    '"9007199254740993"',
    '["\\"9007199254740993", "\\\\", 9007199254740993]',
    '{"9007199254740993": "9007199254740993"}',
    '"1234567890123456e-1234567890"',
    '{"0.00000000000000e1234567890": "0.00000000000000e1234567890"}',
  ])
    assert.deepEqual(withDoubles(parsed(text)), JSON.parse(text));
  for (const text of ['{9007199254740993: 1}', '9007199254740993x', '[09007199254740993]', '-'])
    assert.throws(() => parseJson(text), SyntaxError, text);
});

it('listed values are found by reading each value once, however long the list', () => {
  let reads = 0;
  const codes = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({
      get code() {
        reads += 1;
        return from + index;
      },
    }));
  for (const length of [3, 300]) {
    reads = 0;
    const found = intersection(codes(0, length), codes(1, length + 1));
    assert.ok(reads <= 2 * length + 20, `${reads} reads`);
    assert.deepEqual(found, JSON.parse(JSON.stringify(codes(1, length))));
  }
});

it('exact numbers are numbers, equal in all notations, and never equal to doubles', () => {
  const [one, same, other] = ['9007199254740993', '9007199254740993.0', '9007199254740995'].map(parsed);
  assert.ok(one !== undefined && same !== undefined && other !== undefined);
  assert.ok(jsonEquals({ a: [one] }, { a: [same] }));
  assert.ok(
    !jsonEquals(one, other) && !jsonEquals(one, 9007199254740992) && !jsonEquals(9007199254740992, one),
  );
  assert.ok(!jsonEquals(one, '9007199254740993') && !jsonEquals('9007199254740993', one));
  assert.equal(canonicalJson([one]), canonicalJson([same]));
  assert.notEqual(canonicalJson(one), canonicalJson(other));
  assert.notEqual(canonicalJson(one), canonicalJson('9007199254740993'));
  assert.deepEqual(
    [jsonType(one), isOfType(one, 'integer'), isOfType(one, 'object')],
    ['number', true, false],
  );
  assert.equal(isOfType(parsed('9007199254740992.5'), 'integer'), false);
  assert.deepEqual(changedPointers({ a: one, b: one }, { a: same, b: other }), [
    { op: 'replace', pointer: '/b' },
  ]);
});

it('exact numbers are found with their places, and refuse to be sent to another thread', () => {
  const value = parsed('{"a":[1,{"b/c":9007199254740993}],"d":0.12345678901234567891}');
  assert.deepEqual(
    [...losslessNumbersIn(value, '/x')].map(({ pointer, number }) => [pointer, number.text]),
    [
      ['/x/a/1/b~1c', '9007199254740993'],
      ['/x/d', '0.12345678901234567891'],
    ],
  );
  assert.throws(() => structuredClone(value), { name: 'DataCloneError' });
  assert.equal(JSON.stringify(value), '{"a":[1,{"b/c":9007199254740993}],"d":0.12345678901234567891}');
});

describe('a name with escapes is read correctly, whatever was read before', () => {
  // V8 takes the name of the first text for that of the second (nodejs/node#63785); the first member makes each pair unique.
  for (const [hidden, shown, name] of [
    [String.raw`spee\\`, String.raw`spee\u0064`, 'speed'],
    [String.raw`\\`, String.raw`\u0061`, 'a'],
    [String.raw`a\\`, String.raw`a\"`, 'a"'],
    [String.raw`a\\\\`, String.raw`a\\b`, String.raw`a\b`],
    [String.raw`__proto_\\`, String.raw`__proto_\u005f`, '__proto__'],
  ] as const)
    it(`a name that is written ${shown} is ${name}`, () => {
      for (const parse of [parseJson, parseWithDoubles, tryParseJson])
        for (const number of ['1', '12345678901234567890.5']) {
          const at = `${parse.name} ${number}`;
          parse(`{"${at}": 0, "${hidden}": 0}`);
          const value = parse(`[{"${at}": 1, "${shown}" \n : {"${shown}": ${number}}}]`) as JsonValue[];
          assert.deepEqual(Object.keys(value[0] as JsonObject), [at, name]);
          const inner = Object.getOwnPropertyDescriptor(value[0], name)?.value as JsonObject;
          assert.deepEqual(Object.keys(inner), [name]);
        }
      readJson(`{"read": 0, "${hidden}": 0}`);
      const read = readJson(`{"read": 1, "${shown}": 2}`);
      assert.deepEqual(Object.keys('value' in read ? (read.value as JsonObject) : {}), ['read', name]);
      assert.ok('unreadable' in readJson(`{"${shown}": 1, ${JSON.stringify(name)}: 2}`));
    });

  it('what is parsed to be kept has numbers beyond the range of doubles as well', () => {
    const text = `[1e400,-2E+0400,1${'0'.repeat(400)},1e-400,12345678901234567890.5,"1e400"]`;
    assert.equal(JSON.stringify(parseToKeep(text)), text);
    assert.equal(JSON.stringify(parseJson('[1e400]')), '[null]');
    assert.equal(JSON.stringify(parseToKeep('[1e9999999999,1e-9999999999,2]')), '[null,0,2]');
  });

  it('a text may be nested to any depth', () => {
    const depth = 50_000;
    const text = `${'['.repeat(depth)}{"\\u0061": 12345678901234567890.5}${']'.repeat(depth)}`;
    let value = parseJson(text);
    for (let level = 0; level < depth; level += 1) [value] = value as [unknown];
    assert.deepEqual(Object.keys(value as object), ['a']);
    assert.ok((value as JsonObject)['a'] instanceof LosslessNumber);
  });

  it('strings that look like names with escapes are not changed', () => {
    const text = String.raw`{"a": "\u0064\":", "b": ["\\", ":", "x\n"], "c:\t": "\": 12345678901234567890.5"}`;
    assert.deepEqual(parseJson(text), JSON.parse(text));
  });
});
