import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import { parseQ, type QNode } from '../../../../sidecar/ngsi-ld/q.js';
import { parseTypeSelector } from '../../../../sidecar/ngsi-ld/type-selector.js';
import { QueryRefusedError } from '../../../../sidecar/purge/errors.js';
import { impossibleSelections } from '../../../../sidecar/purge/proof/index.js';
import { selectionOf } from '../hand-made-lister.js';

/** The values that make a parameter impossible; `~` stands for the part that makes a name unknown. */
const impossible = (filter: 'q' | 'type' | 'attrs' | 'scopeQ' | 'idPattern', value: string) =>
  impossibleSelections(selectionOf({ [filter]: value }), filter).map(({ selection }) =>
    selection[0]?.value.replaceAll('NoSuchPurgeProbe', '~').replaceAll('/NoSuchScopePurgeProbe', '/~'),
  );

for (const [q, expected] of [
  ['speed>50', ['speed~>50']],
  ['speed', ['speed~']],
  ['speed>50;brand=="a;b"', ['speed~>50;brand=="a;b"', 'speed>50;brand~=="a;b"']],
  ['speed.observedAt<2026-01-01T00:00:00Z', ['speed~.observedAt<2026-01-01T00:00:00Z']],
  ['address[city]=="Bern","Basel"', ['address~[city]=="Bern","Basel"']],
  ['https://a.example/speed>5', ['https://a.example/speed~>5']],
  ['a|b', ['a~|b~']],
  ['(a|b);c', ['(a~|b~);c', '(a|b);c~']],
  ['(a;b)|c', ['(a~;b)|c~', '(a;b~)|c~']],
  ['(a;b)|(c;d)', ['(a~;b)|(c~;d~)', '(a;b~)|(c~;d~)', '(a~;b~)|(c~;d)', '(a~;b~)|(c;d~)']],
  ['a!=1', ['a!=1;a==1']],
  ['brand!="b1","b2";n', ['brand!="b1","b2";brand=="b1","b2";n', 'brand!="b1","b2";n~']],
  ['!a', ['!a;a']],
  ['a!~=x.*', ['a!~=x.*;a~=x.*']],
  ['a|!b', ['a~|(!b;b)']],
  ['(!b)', ['(!b;b)']],
  ['createdAt>2026-01-01T00:00:00Z', ['createdAt>2261-12-31T23:59:59Z']],
  ['modifiedAt>=2026-05-14T06:00:00.5+02:00', ['modifiedAt>=2261-12-31T23:59:59.5+02:00']],
  ['modifiedAt < "2026-05-14T06:00:00+02:00"', ['modifiedAt < "1970-01-02T00:00:00+02:00"']],
  ['createdAt<=2026-05-14', ['createdAt<=1970-01-02']],
  // Times that no entity has prove themselves: a broker may take them for other times.
  ['createdAt>2500-01-01T00:00:00Z', ['createdAt>2500-01-01T00:00:00Z']],
  ['modifiedAt<0206-01-01T00:00:00Z', ['modifiedAt<0206-01-01T00:00:00Z']],
  // Entities may expire in the last moment there is.
  ['expiresAt>=2026-05-14T06:00:00.5+02:00', ['expiresAt<1970-01-02T00:00:00.5+02:00']],
  [
    'https://uri.etsi.org/ngsi-ld/expiresAt > 2026-05-14',
    ['https://uri.etsi.org/ngsi-ld/expiresAt < 1970-01-02'],
  ],
  ['createdAt>5', ['createdAt>2261-12-31T23:59:59Z']],
  ['createdAt==5', ['createdAt==1970-01-02T00:00:00Z']],
  ['createdAt==2026-01-01..2026-02-01', ['createdAt==1970-01-02..1970-01-02']],
  ['modifiedAt!=2026-01-01', ['modifiedAt!=2026-01-01;modifiedAt==2026-01-01']],
  ['type==Car,Bus', ['type=="NoSuchValuePurgeProbe","NoSuchValuePurgeProbe"']],
] as const) {
  it(`a q that cannot match is made for each condition in turn, and leaves the others unchanged: ${q}`, () => {
    // In the order in which they are made, on which no caller relies.
    assert.deepEqual(impossible('q', q).sort(), [...expected].sort());
    for (const { selection } of impossibleSelections(selectionOf({ q }), 'q'))
      parseQ(selection[0]?.value ?? '');
  });
}

it('a q that cannot match names the condition that was made impossible, and whether it contradicts itself', () => {
  const made = impossibleSelections(selectionOf({ type: 'T', q: ' speed > 5 ; !a' }), 'q');
  assert.deepEqual(
    made.map(({ about, isContradiction }) => [about, isContradiction]),
    [
      ['speed > 5', false],
      ['!a', true],
    ],
  );
  assert.ok(
    made.every(({ selection }) => selection.some(({ name, value }) => name === 'type' && value === 'T')),
  );
});

it('a negated condition on histories is made impossible by another name, because instances may differ', () => {
  const made = (q: string) =>
    impossibleSelections(selectionOf({ q }), 'q', true).map(({ selection, isContradiction }) => [
      selection[0]?.value.replaceAll('NoSuchPurgeProbe', '§'),
      isContradiction,
    ]);
  assert.deepEqual(made('a!=1,2'), [['a§==1,2', false]]);
  assert.deepEqual(made('!a|b!~=x'), [['a§|b§~=x', false]]);
});

it('a q of many alternatives is made impossible once, by a text that is hardly longer', () => {
  const q = Array.from({ length: 3000 }, (_, n) => `n==${n}`).join('|');
  const [only, ...others] = impossible('q', q);
  assert.equal(others.length, 0);
  assert.ok((only ?? '').length < q.length);
  parseQ(only ?? '');
});

it('a q of more conditions than can be proven is refused with their number', () => {
  const q = Array.from({ length: 51 }, (_, n) => `a${n}`).join(';');
  assert.throws(
    () => impossible('q', q),
    (error) => error instanceof QueryRefusedError && /q has 51 conditions.*at most 50/.test(error.message),
  );
  assert.equal(impossible('q', q.slice(0, q.lastIndexOf(';'))).length, 50);
});

it('a q that cannot match matches no entity, whatever the original q', () => {
  const { condition } = fc.letrec<{ condition: string; all: string }>((tie) => ({
    all: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('a', '!a', 'a>1', 'b!=1', 'b==1', 'c<=0', '!c', 'b!=0,2'),
      tie('condition'),
    ),
    condition: fc
      .tuple(fc.constantFrom(';', '|'), fc.array(tie('all'), { minLength: 1, maxLength: 3 }))
      .map(([sign, parts]) => `(${parts.join(sign)})`),
  }));
  const entity = fc.record(
    {
      a: fc.integer({ min: 0, max: 2 }),
      b: fc.integer({ min: 0, max: 2 }),
      c: fc.integer({ min: 0, max: 2 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(condition, entity, (q, members) => {
      for (const { selection } of impossibleSelections(selectionOf({ q }), 'q')) {
        const [{ value } = { value: '' }] = selection;
        assert.equal(holds(parseQ(value), members), false, value);
      }
    }),
  );
});

function holds(node: QNode, members: Readonly<Record<string, number>>): boolean {
  switch (node.kind) {
    case 'and':
      return node.operands.every((operand) => holds(operand, members));
    case 'or':
      return node.operands.some((operand) => holds(operand, members));
    case 'group':
      return holds(node.inner, members);
    default: {
      const given = members[node.path.names[0] ?? ''];
      if (node.kind === 'exists') return (given !== undefined) !== node.negated;
      if (given === undefined || node.kind === 'pattern') return false;
      if (node.kind === 'order')
        return node.operator === '>' ? given > Number(node.value.value) : given <= Number(node.value.value);
      const values =
        node.operand.kind === 'list'
          ? node.operand.values
          : node.operand.kind === 'value'
            ? [node.operand.value]
            : [];
      return values.some(({ value }) => value === given) === (node.operator === '==');
    }
  }
}

it('a type selector that cannot match keeps its form', () => {
  assert.deepEqual(impossible('type', 'A'), ['A~']);
  assert.deepEqual(impossible('type', 'A,B|C'), ['A~,B~|C~']);
  assert.deepEqual(impossible('type', '(A;B)|C'), ['(A~;B)|C~', '(A;B~)|C~']);
  assert.deepEqual(impossible('type', 'A;(B,C)'), ['A~;(B,C)', 'A;(B~,C~)']);
  assert.deepEqual(impossible('type', '*'), [], 'any type is no filter');
  for (const text of impossible('type', '(A;B)|C')) parseTypeSelector(text ?? '');
});

it('a list of attributes, a scope query and a pattern that cannot match keep their form', () => {
  assert.deepEqual(impossible('attrs', 'a,b'), ['a~,b~']);
  assert.equal(
    impossible('attrs', Array.from({ length: 1000 }, (_, n) => `a${n}`).join())[0]?.split(',').length,
    20,
  );
  assert.deepEqual(impossible('scopeQ', '/A/+/B,/C/#'), ['/~/A/+/B,/~/C/#']);
  assert.deepEqual(impossible('scopeQ', '(/A;/B)|/C'), ['(/~/A;/B)|/~/C', '(/A;/~/B)|/~/C']);
  assert.deepEqual(impossible('idPattern', '^urn'), ['^urn:ngsi-ld:NoSuchEntityPurgeProbe:1$']);
  assert.deepEqual(impossible('idPattern', '(?=urn)a'), ['(?:(?=urn)a)^NoSuchEntityPurgeProbe']);
});

it('a geoquery is made impossible by another property, whether it names one or not', () => {
  const geo = { georel: 'within', geometry: 'Point', coordinates: '[1,2]' };
  for (const given of [geo, { ...geo, geoproperty: 'place' }]) {
    const [only] = impossibleSelections(selectionOf(given), 'georel');
    const properties = only?.selection.filter(({ name }) => name === 'geoproperty');
    assert.deepEqual(properties, [{ name: 'geoproperty', value: 'noSuchGeoPropertyPurgeProbe' }]);
  }
});

it('a time filter is made impossible as a whole, by a time before all measured times', () => {
  const times = { timerel: 'between', timeAt: '2026-01-01T00:00:00Z', endTimeAt: '2026-02-01T00:00:00Z' };
  const [only] = impossibleSelections(
    selectionOf({ type: 'T', ...times, timeproperty: 'createdAt' }),
    'timerel',
  );
  assert.deepEqual(
    new Map(only?.selection.map(({ name, value }) => [name, value])),
    new Map(
      Object.entries({
        type: 'T',
        timeproperty: 'createdAt',
        timerel: 'before',
        timeAt: '1800-01-01T00:00:00Z',
      }),
    ),
  );
});

it('a filter that a selection does not have is not made impossible', () => {
  assert.deepEqual(impossibleSelections(selectionOf({ type: 'T' }), 'q'), []);
});
