import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { requiredAttributesOf, requiresAttribute, parseQ } from '../../../sidecar/ngsi-ld/q.js';
import { words } from '../../support/words.js';

const demands = (q: string) => requiresAttribute(parseQ(q));

/** Conditions that an entity without attributes can meet, by the most lenient reading of brokers. */
const LAX = words(`
  !a a!=1 a!=1,2 a!=1..2 a!~=x createdAt>2020-01-01T00:00:00Z modifiedAt id==urn:a:1
`);
const STRICT = words(`
  a a.b a==1 a==1,2 a>1 a<=1 a~=x a.createdAt>2020-01-01T00:00:00Z a[b]==1
`);

it('a query demands an attribute by a condition that only an entity with the attribute meets', () => {
  for (const q of STRICT) assert.equal(demands(q), true, q);
  for (const q of LAX) assert.equal(demands(q), false, q);
});

it('a query without brackets demands attributes with `;` binding tighter than `|`', () => {
  assert.equal(demands('a|createdAt>2020-01-01T00:00:00Z;b'), true);
  assert.equal(demands('a;b|createdAt>2020-01-01T00:00:00Z'), false);
});

it('a query demands an attribute exactly if an entity without attributes cannot match, whatever the brackets', () => {
  const leaf = fc
    .constantFrom(...LAX.map((q) => [q, true] as const), ...STRICT.map((q) => [q, false] as const))
    .map(([q, holds]) => ({ q, holds }));
  const { tree } = fc.letrec<{ tree: { readonly q: string; readonly holds: boolean } }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc
        .tuple(fc.constantFrom(';', '|'), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
        .map(([sign, parts]) => ({
          q: `(${parts.map(({ q }) => q).join(sign)})`,
          holds: sign === ';' ? parts.every(({ holds }) => holds) : parts.some(({ holds }) => holds),
        })),
    ),
  }));
  fc.assert(fc.property(tree, ({ q, holds }) => assert.equal(demands(q), !holds, q)));
});

it('a query lists the attributes that it demands once each, in the order in which they are written', () => {
  assert.deepEqual(requiredAttributesOf(parseQ('(b.c>1|!x);a==1;b;createdAt;y!=2')), ['b', 'a']);
});
