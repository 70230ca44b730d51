import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withoutSpans } from './print-q.js';
import {
  conditionsOf,
  hasLinkedEntityPath,
  mixesLogicalOperators,
  parseQ,
  MAX_Q_DEPTH,
  MAX_Q_CHARS,
} from '../../../sidecar/ngsi-ld/q.js';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';
import { words } from '../../support/words.js';

const path = (...names: string[]) => ({ names, valuePath: [], link: null });

function namesIn(q: string): readonly (readonly string[])[] {
  return conditionsOf(parseQ(q)).map(({ path }) => path.names);
}

function refusal(q: string): NgsiLdSyntaxError {
  try {
    parseQ(q);
  } catch (error) {
    if (error instanceof NgsiLdSyntaxError) return error;
    throw error;
  }
  return assert.fail(`taken: ${q.slice(0, 80)}`);
}

const cases: readonly [string, unknown][] = [
  ['50', { kind: 'number', value: 50, source: '50' }],
  ['-1.5e3', { kind: 'number', value: -1500, source: '-1.5e3' }],
  ['"Mercedes"', { kind: 'string', value: 'Mercedes' }],
  [String.raw`"a\"b\\c\u00e9;|)"`, { kind: 'string', value: 'a"b\\cé;|)' }],
  ['true', { kind: 'boolean', value: true }],
  ['2017-12-24', { kind: 'date', value: '2017-12-24' }],
  ['12:00:00Z', { kind: 'time', value: '12:00:00Z' }],
  ['2017-12-24T12:00:00.5Z', { kind: 'dateTime', value: '2017-12-24T12:00:00.5Z' }],
  ['2017-12-24T12:00:00,5Z', { kind: 'dateTime', value: '2017-12-24T12:00:00,5Z' }],
  ['2017-12-24T12:00:00+01:00', { kind: 'dateTime', value: '2017-12-24T12:00:00+01:00' }],
  ['urn:ngsi-ld:Spot:1', { kind: 'uri', value: 'urn:ngsi-ld:Spot:1' }],
  ['https://a.example/x?y=1', { kind: 'uri', value: 'https://a.example/x?y=1' }],
  ['Mercedes', { kind: 'text', value: 'Mercedes' }],
  ['007', { kind: 'text', value: '007' }],
  ['5km', { kind: 'text', value: '5km' }],
];
for (const [text, value] of cases) {
  it(`the value of ${text} is read as it is meant`, () => {
    assert.deepEqual(withoutSpans(parseQ(`a==${text}`)), {
      kind: 'equality',
      path: path('a'),
      operator: '==',
      operand: { kind: 'value', value },
    });
  });
}

it('a list is read with and without the spaces of the standard’s own example', () => {
  const spaced = parseQ('color!= "black", "red"');
  assert.deepEqual(withoutSpans(spaced), withoutSpans(parseQ('color!="black","red"')));
  assert.equal(spaced.kind === 'equality' && spaced.operand.kind, 'list');
});

it('a range is read between numbers, strings, and dates with date-times', () => {
  for (const range of ['10..20', '1.5..2.5', '"a".."b"', '2020-01-01..2020-06-01T00:00:00Z', 'a..b']) {
    const node = parseQ(`a==${range}`);
    assert.equal(node.kind === 'equality' && node.operand.kind, 'range', range);
  }
});

it('dotted names are sub-attributes, and brackets address parts of the value', () => {
  assert.deepEqual(withoutSpans(parseQ('sensor.rawdata[airquality.particulate]')), {
    kind: 'exists',
    path: { names: ['sensor', 'rawdata'], valuePath: ['airquality', 'particulate'], link: null },
    negated: false,
  });
  assert.deepEqual(conditionsOf(parseQ('color[*]=="red"'))[0]?.path.valuePath, ['*']);
});

it('the dots of an IRI in q are not separators, and those after the IRI are', () => {
  for (const [q, ...names] of [
    ['https://a.example/v1.2/speed.observedAt>2020-01-01', 'https://a.example/v1.2/speed', 'observedAt'],
    ['https://a.example/ns#speed.unitCode', 'https://a.example/ns#speed', 'unitCode'],
    ['https://a.example/ns.v1#speed.unitCode', 'https://a.example/ns.v1#speed', 'unitCode'],
    ['https://a.example/ns#v1.2/speed.unitCode', 'https://a.example/ns#v1.2/speed', 'unitCode'],
    ['https://a.example.urn:a:b.c', 'https://a.example', 'urn:a:b', 'c'],
    ['https://a.example', 'https://a.example'],
    ['urn:a:b.c:speed.x', 'urn:a:b.c:speed', 'x'],
    ['ex:speed.ex:accuracy.b', 'ex:speed', 'ex:accuracy', 'b'],
    ['speed.https://a.example/b.c', 'speed', 'https://a.example/b', 'c'],
    ['https://a.example/b.https://c.example/d', 'https://a.example/b', 'https://c.example/d'],
  ] as const)
    assert.deepEqual(namesIn(q), [names], q);
});

it('all paths are listed in the order in which they are written', () => {
  assert.deepEqual(namesIn('((speed>50|rpm>3000);!a.b)|c~=x;speed==1'), [
    ['speed'],
    ['rpm'],
    ['a', 'b'],
    ['c'],
    ['speed'],
  ]);
});

it('paths over linked entities are recognised, and malformed ones are syntax errors', () => {
  for (const q of words(`
      sensor{humidity}==40 sensor{Device:humidity}==40 a;(b|c{T}.d.e>1) a{B,C:d{e{f}}}
    `)) {
    assert.equal(hasLinkedEntityPath(parseQ(q)), true, q);
  }
  assert.equal(hasLinkedEntityPath(parseQ('a=="{b}"')), false);
  assert.deepEqual(namesIn('sensor{Device}.humidity'), [['sensor']]);
  for (const q of ['a{', 'a{}', 'a{b', 'a}', 'a{b}.', 'a{b}c', 'a{'.repeat(5000)]) refusal(q);
});

it('";" binds tighter than "|", and mixing them without brackets is recorded', () => {
  const node = parseQ('a|b;c');
  assert.ok(node.kind === 'or');
  assert.equal(node.operands[1]?.kind, 'and');
  assert.deepEqual(
    ['a|b;c', 'a;b|c', '(a;b|c);d', '(a;b|c)|d', 'd|(e|(a|b;c))'].map((q) =>
      mixesLogicalOperators(parseQ(q)),
    ),
    [true, true, true, true, true],
  );
  assert.deepEqual(
    ['a;b;c', 'a|b', '(a;b)|c', 'a;(b|c)', '((a;b)|c);d'].map((q) => mixesLogicalOperators(parseQ(q))),
    [false, false, false, false, false],
  );
});

it('an unquoted pattern ends at ";", "|" or ")" outside its own brackets', () => {
  const patterns = (q: string): string[] => {
    const node = parseQ(q);
    const inner = node.kind === 'group' ? node.inner : node;
    const terms = inner.kind === 'and' || inner.kind === 'or' ? inner.operands : [inner];
    return terms.map((term) => (term.kind === 'pattern' ? term.pattern : term.kind));
  };
  assert.deepEqual(patterns('a~=^x.*y$;b'), ['^x.*y$', 'exists']);
  assert.deepEqual(patterns('a~=x|b'), ['x', 'exists']);
  assert.deepEqual(patterns('(a~=x(1|2)[);|]\\))'), ['x(1|2)[);|]\\)']);
  assert.deepEqual(patterns('a~=[]|]x|b'), ['[]|]x', 'exists']);
  assert.deepEqual(patterns('a~=[^]|]x|b'), ['[^]|]x', 'exists']);
  assert.deepEqual(patterns('a~=[^^]x|b'), ['[^^]x', 'exists']);
  assert.deepEqual(patterns(String.raw`a!~="\d+;\"|\\."`), [String.raw`\d+;"|\\.`]);
  for (const q of ['a~=', 'a~=;b', 'a~=(x', 'a~=[x', 'a~="x', 'a~=""']) refusal(q);
});

it('an invalid query is refused at the position of the fault', () => {
  const refused: readonly [string, number][] = [
    ['', 0],
    [';a', 0],
    ['a;', 2],
    ['a=5', 1],
    ['a===5', 3],
    ['a!==5', 3],
    ['a==b!c', 3],
    ['a==!b', 3],
    ['a=="5', 3],
    ['a=="5"6', 6],
    ['a==5 6', 5],
    ['a==5==6', 3],
    ['a==', 3],
    ['a>true', 2],
    ['a>1..2', 3],
    ['a>1,2', 3],
    ['a==1,', 5],
    ['a==1.."x"', 6],
    ['a==true..false', 9],
    ['a==urn:a:1..urn:b:2', 12],
    ['a==1..true', 6],
    ['a==12:00:00Z..2020-01-01', 14],
    ['a==2020-02-30', 3],
    ['a==2020-01-01T25:00:00Z', 3],
    ['a==1e999', 3],
    [String.raw`a=="\x"`, 3],
    ['a b', 2],
    ['a..b', 0],
    ['.a', 0],
    ['a.', 0],
    ['5', 0],
    ['"a"', 0],
    ['(a', 2],
    ['a)', 1],
    ['()', 1],
    ['!(a)', 1],
    ['a[]', 2],
    ['a[b', 3],
    ['a[b][c]', 4],
    ['a\u0000', 1],
  ];
  for (const [q, position] of refused) assert.equal(refusal(q).position, position, q);
});

it('typographic quotes and invisible characters in a value are refused, because != would match everything', () => {
  for (const [q, position] of [
    ['a!=“b”', 3],
    ['a!=„b“', 3],
    ['a!=«b»', 3],
    ["a!='b'", 3],
    ['a!=b’', 4],
    ['a!=b\u200bc', 4],
    ['a!=´b´', 3],
    ['a!~=“^b”', 4],
    ["a!~='^b'", 4],
  ] as const)
    assert.equal(refusal(q).position, position, q);
  assert.deepEqual(
    withoutSpans(parseQ('a!="“b”\u200b"')),
    withoutSpans(parseQ('a!="\\u201cb\\u201d\\u200b"')),
  );
});

it('the message about an invalid q names the expected input and quotes little of a hostile text', () => {
  const error = refusal(`a=${'x'.repeat(5000)}`);
  assert.match(error.message, /^q: expected one of the operators ==/);
  assert.ok(error.message.length < 200);
});

it('brackets of q nest up to the limit and not one deeper', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`;
  assert.equal(parseQ(nested(MAX_Q_DEPTH)).kind, 'group');
  assert.match(refusal(nested(MAX_Q_DEPTH + 1)).message, /nested brackets/);
  refusal('('.repeat(MAX_Q_CHARS));
  assert.equal(MAX_Q_DEPTH, 100);
});

it('braces of q nest sixteen deep and not one deeper', () => {
  const nested = (depth: number) => `${'a{'.repeat(depth)}b${'}'.repeat(depth)}`;
  assert.equal(hasLinkedEntityPath(parseQ(nested(16))), true);
  assert.match(refusal(nested(17)).message, /at most 16 nested braces/);
});

it('a q may have 65536 characters and not one more', () => {
  assert.equal(MAX_Q_CHARS, 65_536);
  assert.deepEqual(namesIn('a'.repeat(MAX_Q_CHARS)), [['a'.repeat(MAX_Q_CHARS)]]);
  assert.equal(refusal('a'.repeat(MAX_Q_CHARS + 1)).position, MAX_Q_CHARS);
});

it('a q of the maximum length is parsed or refused in linear time', () => {
  const fill = (unit: string) => unit.repeat(Math.floor((MAX_Q_CHARS - 4) / unit.length));
  assert.equal(conditionsOf(parseQ(`${fill('a;')}a`)).length, 32_767);
  for (const unit of [
    ...words(`
      a. urn: .http:// a{ " \\" 1 1. 1.. a==1, ( [ ~= !a|
    `),
    ' ',
  ]) {
    const started = process.cpuUsage();
    for (const q of [fill(unit), `a==${fill(unit)}`, `a~=${fill(unit)}`]) {
      try {
        parseQ(q);
      } catch (error) {
        assert.ok(error instanceof NgsiLdSyntaxError);
      }
    }
    // Linear work is a few milliseconds; quadratic work on 64 kB would be many seconds.
    assert.ok(process.cpuUsage(started).user < 1_500_000, unit);
  }
  assert.match(refusal('a'.repeat(MAX_Q_CHARS + 1)).message, /at most 65536 characters/);
});

it('the error of a q with a time whose + became a blank says how to write the time in a URL', () => {
  for (const text of ['a.observedAt<2026-01-01T00:00:00 02:00', 'createdAt>2026-01-01T00:00:00 02:00;b==1'])
    assert.throws(() => parseQ(text), /found "02:00.*" \(in a URL, write \+ as %2B\)$/);
  assert.throws(() => parseQ('a==1 b'), /found "b"$/);
});

it('each node of a query has its position, and each condition that of its operator', () => {
  const text = ' a > 5 ;( b |!c)';
  const node = parseQ(text);
  assert.ok(node.kind === 'and');
  const [first, group] = node.operands;
  assert.deepEqual(
    [node.span, first?.span],
    [
      { start: 1, end: 16 },
      { start: 1, end: 6, operator: 3 },
    ],
  );
  assert.ok(group?.kind === 'group' && group.inner.kind === 'or');
  assert.deepEqual(
    [group, ...group.inner.operands].map(({ span }) => text.slice(span.start, span.end)),
    ['( b |!c)', 'b ', '!c'],
  );
});
