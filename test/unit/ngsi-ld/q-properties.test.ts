import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  conditionsOf,
  mixesLogicalOperators,
  parseQ,
  type QNode,
  type QPath,
  type QValue,
} from '../../../sidecar/ngsi-ld/q.js';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';
import { words } from '../../support/words.js';
import { NOWHERE, printQ, withoutSpans } from './print-q.js';
import { unicodeText } from '../../support/unicode-text.js';

/** fc.record, returning objects with the ordinary prototype, as the parser makes them. */
function record<T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(shape, { noNullPrototype: true });
}

const name = fc.constantFrom(
  ...words('speed é1 _x ex:speed a-b https://a.example/v1.0/b urn:a.b:c __proto__'),
);
const path: fc.Arbitrary<QPath> = fc.oneof(
  record({
    // A compact IRI after a urn becomes part of it, by the rule of splitDottedNames, and cannot round-trip.
    names: fc
      .array(name, { minLength: 1, maxLength: 3 })
      .filter((names) => !names.includes('urn:a.b:c') || !names.includes('ex:speed')),
    valuePath: fc.array(fc.constantFrom('x', 'a b', '*', 'en', 'constructor'), { maxLength: 2 }),
    link: fc.constant(null),
  }),
  record({
    names: fc.constant(['a']),
    valuePath: fc.constant([]),
    link: record({
      inner: fc.constantFrom('T', 'T,U:b', 'b{c{d}}'),
      rest: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    }),
  }),
);

const number: fc.Arbitrary<QValue> = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => ({ kind: 'number', value: Number(JSON.stringify(value)), source: JSON.stringify(value) }));
const string: fc.Arbitrary<QValue> = unicodeText().map((value) => ({ kind: 'string', value }));
const text: fc.Arbitrary<QValue> = fc
  .constantFrom('red', 'Zürich', '5km', '007', 'a.b')
  .map((value) => ({ kind: 'text', value }));
const dateTime: fc.Arbitrary<QValue> = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => ({ kind: 'dateTime', value: date.toISOString() }));
const boolean: fc.Arbitrary<QValue> = fc.boolean().map((value) => ({ kind: 'boolean', value }));
const uri: fc.Arbitrary<QValue> = fc
  .constantFrom('urn:ngsi-ld:A:1', 'https://a.example/b?c=d#e')
  .map((value) => ({ kind: 'uri', value }));
const value = fc.oneof(number, string, text, dateTime, boolean, uri);

const leaf: fc.Arbitrary<QNode> = fc.oneof(
  record({ kind: fc.constant('exists' as const), span: fc.constant(NOWHERE), path, negated: fc.boolean() }),
  record({
    kind: fc.constant('equality' as const),
    span: fc.constant(NOWHERE),
    path,
    operator: fc.constantFrom('==' as const, '!=' as const),
    operand: fc.oneof(
      record({ kind: fc.constant('value' as const), value }),
      record({ kind: fc.constant('list' as const), values: fc.array(value, { minLength: 2, maxLength: 4 }) }),
      fc.oneof(number, string, dateTime).chain((from) =>
        record({
          kind: fc.constant('range' as const),
          from: fc.constant(from),
          to: from.kind === 'number' ? number : from.kind === 'string' ? string : dateTime,
        }),
      ),
    ),
  }),
  record({
    kind: fc.constant('order' as const),
    span: fc.constant(NOWHERE),
    path,
    operator: fc.constantFrom('>' as const, '>=' as const, '<' as const, '<=' as const),
    value: fc.oneof(number, string, text, dateTime, uri),
  }),
  record({
    kind: fc.constant('pattern' as const),
    span: fc.constant(NOWHERE),
    path,
    negated: fc.boolean(),
    pattern: fc.constantFrom('^a.*b$', 'x(1|2)', '[;|)]y', 'a\\;b', 'a b'),
    quoted: fc.boolean(),
  }),
);

const { node } = fc.letrec<{ node: QNode; and: QNode; group: QNode }>((tie) => ({
  group: tie('node').map((inner) => ({ kind: 'group', inner, span: NOWHERE })),
  and: fc
    .array(fc.oneof(leaf, tie('group')), { minLength: 2, maxLength: 3 })
    .map((operands) => ({ kind: 'and', operands, span: NOWHERE })),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    tie('group'),
    tie('and'),
    fc
      .array(fc.oneof(leaf, tie('group'), tie('and')), { minLength: 2, maxLength: 3 })
      .map((operands) => ({ kind: 'or' as const, operands, span: NOWHERE })),
  ),
}));

it('every query that can be written parses back to itself', () => {
  fc.assert(
    fc.property(node, (tree) => {
      assert.deepEqual(withoutSpans(parseQ(printQ(tree))), withoutSpans(tree));
    }),
    { numRuns: 500 },
  );
});

it('spaces around operators never change a query', () => {
  fc.assert(
    fc.property(fc.array(leaf, { minLength: 2, maxLength: 4 }), fc.constantFrom(';', '|'), (leaves, sign) => {
      const printed = leaves.map(printQ);
      const spaced = parseQ(`  ${printed.join(`  ${sign}  `)}  `);
      assert.deepEqual(withoutSpans(spaced), withoutSpans(parseQ(printed.join(sign))));
    }),
  );
});

/** Any text, and texts made of the language's own tokens, which get further into the parser. */
const hostile = fc.oneof(
  unicodeText(),
  fc.string({ unit: fc.constantFrom(...Array.from('a.:/#[]{}()=!<>~"\\;|,1-T Z')), maxLength: 40 }),
);

it('any text is parsed as a q or refused with NgsiLdSyntaxError', () => {
  fc.assert(
    fc.property(hostile, (q) => {
      try {
        const tree = parseQ(q);
        assert.ok(conditionsOf(tree).length > 0);
        mixesLogicalOperators(tree);
        assert.deepEqual(withoutSpans(parseQ(printQ(tree))), withoutSpans(tree));
      } catch (error) {
        if (!(error instanceof NgsiLdSyntaxError)) throw error;
        assert.ok(error.position >= 0 && error.position <= q.length);
      }
    }),
    { numRuns: 3000 },
  );
});
