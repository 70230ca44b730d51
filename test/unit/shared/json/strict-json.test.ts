import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { checkJson, JsonSyntaxError, readJson } from '../../../../sidecar/shared/json/strict-json.js';
import { words } from '../../../support/words.js';

/** Whether a text is accepted; any error other than JsonSyntaxError is a failure. */
function takes(text: string): boolean {
  try {
    checkJson(text);
    return true;
  } catch (error) {
    assert.ok(error instanceof JsonSyntaxError);
    assert.ok(error.line >= 1 && error.column >= 1 && error.detail !== '');
    return false;
  }
}

/** Whether a text is JSON without numbers beyond a double. */
function isJson(text: string): boolean {
  try {
    let isFinite = true;
    JSON.parse(text, (_name, value: unknown) => {
      if (typeof value === 'number') isFinite &&= Number.isFinite(value);
      return value;
    });
    return isFinite;
  } catch {
    return false;
  }
}

it('checkJson accepts every JSON text without repeated members, in any notation', () => {
  const spaces = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n');
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), spaces, (value, space) => {
      const text = `${space}${JSON.stringify(value, null, space)}${space}`;
      assert.equal(takes(text), true);
    }),
  );
});

it('checkJson and JSON.parse agree on every mutated text', () => {
  const pieces = [
    ...words(`
    { } [ ] , : " "a" "b" \\ 0 -1.5e+3 01 . true nul
  `),
    ' ',
    '\n',
    '\u0001',
    '\u00a0',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      if (takes(text)) assert.ok(isJson(text), text);
      else assert.ok(!isJson(text) || /"(?:a|b|)"/.test(text), `refused: ${text}`);
    }),
    { numRuns: 2000 },
  );
  const edit = fc.tuple(fc.jsonValue(), fc.nat(), fc.constantFrom(...pieces));
  fc.assert(
    fc.property(edit, ([value, at, piece]) => {
      const text = JSON.stringify(value);
      const place = at % (text.length + 1);
      const edited = text.slice(0, place) + piece + text.slice(place + 1);
      if (takes(edited)) assert.ok(isJson(edited), edited);
    }),
    { numRuns: 2000 },
  );
});

it('checkJson reports line and column of a fault', () => {
  for (const [text, line, column, detail] of [
    ['', 1, 1, /ends, expected a value/],
    ['[1,\n 2,\n x]', 3, 2, /expected a value/],
    ['{"a":1', 1, 7, /ends, expected a comma or }/],
    ['{"a" 1}', 1, 6, /colon/],
    ['{a:1}', 1, 2, /name of a member/],
    ['[1,]', 1, 4, /expected a value/],
    ['{"a":1,}', 1, 8, /name of a member/],
    ['"a\tb"', 1, 3, /control character/],
    ['"\\u12g4"', 1, 2, /escape/],
    ['"open', 1, 1, /the string is not closed/],
    ['1 2', 1, 3, /expected the end/],
    ['[1}', 1, 3, /comma or ]/],
  ] as const) {
    assert.throws(
      () => checkJson(text),
      (error) => {
        assert.ok(error instanceof JsonSyntaxError);
        assert.deepEqual([error.line, error.column], [line, column], text);
        assert.match(error.detail, detail);
        return true;
      },
    );
  }
});

it('checkJson refuses every control character in a string, and accepts every escape and all other characters', () => {
  for (let code = 0; code < 0x20; code += 1)
    assert.equal(takes(`"a${String.fromCharCode(code)}"`), false, `${code}`);
  for (const character of [' ', '\x7f', '\x80', '\u2028', '\ud800']) assert.ok(takes(`"${character}"`));
  for (const escape of ['"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u00aF'])
    assert.ok(takes(`"\\${escape}"`), escape);
  for (const escape of ["'", '0', 'a', 'v', 'x41', 'U0041', 'u41', '\n'])
    assert.equal(takes(`"\\${escape}"`), false, escape);
});

it('checkJson finds a repeated member in any notation of its name, but only within the same object', () => {
  for (const text of ['{"a":1,"a":1}', '{"a":1,"\\u0061":1}', '[{"x":{"":0,"":0}}]', '{"a":{"a":1},"a":1}'])
    assert.equal(takes(text), false, text);
  for (const text of ['{"a":{"a":{"a":1}}}', '[{"a":1},{"a":1}]', '{"a":1,"A":1,"a ":1}', '{"a":"a"}'])
    assert.equal(takes(text), true, text);
});

it('checkJson refuses numbers beyond a double, which would be written as null, unless the caller allows them', () => {
  for (const number of ['1e400', '-1e400', '9'.repeat(400), '-1.5E+309', '1e99999999999']) {
    const text = `{"a": [0,\n ${number}], "b": 1}`;
    assert.ok(!takes(text), number);
    assert.deepEqual(readJson(text), {
      unreadable: {
        line: 2,
        column: 2,
        detail: 'the number is beyond the range of IEEE 754 doubles',
        isTooDeep: false,
      },
    });
    checkJson(text, { anyNumber: true });
    assert.deepEqual(readJson(text, { anyNumber: true }), { value: JSON.parse(text) as unknown });
    assert.ok(takes(`"${number}"`));
  }
  for (const number of words(`
      1e308 -1.7976931348623157e308 1e-400 -0 123456789012345678901234567890
    `))
    assert.ok('value' in readJson(`[${number}]`), number);
});

it('checkJson refuses only the name that changes prototypes, and only on request', () => {
  for (const text of ['{"__proto__":1}', '{"\\u005f_proto__":1}', '[[{"a":{"__proto__":null}}]]']) {
    assert.throws(() => checkJson(text, { anyName: false }), JsonSyntaxError);
    assert.ok(takes(text));
    const read = readJson(text);
    assert.ok('value' in read && Object.getPrototypeOf(read.value) !== 1);
    assert.deepEqual(JSON.stringify('value' in read && read.value), JSON.stringify(JSON.parse(text)));
    assert.ok('unreadable' in readJson(text, { anyName: false }));
  }
  checkJson('{"constructor":{"prototype":1},"proto":1,"a":"__proto__"}', { anyName: false });
});

it('checkJson limits the depth without recursion, and reads large texts in linear time', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  assert.ok(takes(nested(500)));
  assert.equal(takes(nested(502)), false);
  assert.equal(takes('['.repeat(1_000_000)), false);
  assert.ok(takes(`[${'{},'.repeat(200_000)}[]]`));
  assert.ok(takes(`"${'a\\n'.repeat(500_000)}"`));
  assert.ok(takes(' '.repeat(1_000_000) + '1'));
});

it('readJson returns the value of every text that checkJson accepts, and otherwise the fault as plain data', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.json({ stringUnit: 'binary' }).map((text) => text.replaceAll('"a', '"\\"\\\\:{')),
        fc.tuple(fc.json(), fc.json()).map(([one, other]) => `{"a":${one},"a":${other}}`),
        fc.tuple(fc.json(), fc.json()).map(([one, other]) => `[{"a":${one},"\\u0061":${other}}]`),
        fc.json().map((text) => `{"x":[{"\\u005f_proto__":${text}}]}`),
        fc.constantFrom('{"a":1,"a":2}', '{"__proto__":1}', '{"a:b":"{[","c\\"":":"}'),
      ),
      (text) => {
        const read = readJson(text);
        assert.equal('value' in read, takes(text));
        if ('value' in read) assert.deepEqual(read.value, JSON.parse(text));
        else assert.deepEqual(structuredClone(read.unreadable), read.unreadable);
      },
    ),
  );
  assert.deepEqual(readJson('[1,\n x]'), {
    unreadable: { line: 2, column: 2, detail: 'expected a value', isTooDeep: false },
  });
});

it('readJson accepts five hundred levels of arrays and objects, and not one more', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (levels: number) => `${open.repeat(levels - 1)}[]${close.repeat(levels - 1)}`;
    assert.ok('value' in readJson(nested(500)));
    const read = readJson(nested(501));
    assert.ok('unreadable' in read && read.unreadable.isTooDeep);
  }
});
