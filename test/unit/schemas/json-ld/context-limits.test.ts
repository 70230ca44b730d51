import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CONTEXT_LIMITS, limitFaults } from '../../../../sidecar/schemas/json-ld/context-safety.js';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { CORE, pointersOf } from './contexts.js';
import { Desk } from './desk.js';
import { runs } from '../../../support/thoroughness.js';
import { words } from '../../../support/words.js';

const OTHER = 'http://contexts.example/other';
const parse = async (submitted: unknown) => new Desk({ [OTHER]: {} }).check(submitted);

async function refusal(submitted: unknown): Promise<ContextInvalidError> {
  try {
    await parse(submitted);
  } catch (error) {
    if (error instanceof ContextInvalidError) return error;
    throw error;
  }
  return assert.fail('was accepted');
}

/** As many prefixes as may lead to each other. */
const CHAIN = { a: 'http://a/', b: 'a:b/', c: 'b:c/', d: 'c:d/', e: 'd:e/' };

describe('checking a context: limits', () => {
  const manyTerms = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, 'http://example.org/']));

  it('checking a context accepts contexts at the limits', async () => {
    await parse(manyTerms(CONTEXT_LIMITS.terms));
    await parse(Array.from({ length: CONTEXT_LIMITS.contexts }, () => ({})));
    await parse({ a: 'http://a/', b: 'a:b/', c: 'b:c/', d: 'c:d/', e: 'd:e/' });
    await parse({ a: `http://a/${'a'.repeat(CONTEXT_LIMITS.textCharacters - 9)}` });
  });

  const nested = (depth: number) => {
    let context: unknown = {};
    for (let at = 0; at < depth; at += 1) context = { a: { '@id': 'http://a/', '@context': context } };
    return context;
  };
  /** Maps in each other. */
  const levels = (count: number): unknown =>
    Array.from({ length: count }).reduce<unknown>((inner) => ({ a: inner }), 1);
  for (const [what, submitted, pointer] of [
    ['too many terms', manyTerms(CONTEXT_LIMITS.terms + 1), ''],
    ['too many terms in several maps', [manyTerms(CONTEXT_LIMITS.terms), { last: 'http://a/' }], ''],
    ['too many contexts', Array.from({ length: CONTEXT_LIMITS.contexts + 1 }, () => ({})), ''],
    ['too many scoped contexts', { a: { '@context': Array.from({ length: 100 }, () => ({})) } }, ''],
    ['too long a name', { ['a'.repeat(CONTEXT_LIMITS.textCharacters + 1)]: 'http://a/' }, ''],
    ['a long chain of types', { ...CHAIN, f: { '@id': 'http://f/', '@type': 'e' } }, '/f'],
    ['a long chain of reversed terms', { ...CHAIN, f: { '@reverse': 'e:x' } }, '/f'],
    ['a long chain of compact terms', { ...CHAIN, 'e:f': { '@id': 'e:f' } }, '/e:f'],
    ['too long an IRI', { a: `http://a/${'a'.repeat(CONTEXT_LIMITS.textCharacters)}` }, '/a'],
    ['too much text', Array.from({ length: 99 }, () => ({ a: { '@id': 'x'.repeat(11_000) } })), ''],
    ['nesting', nested(11), '/a/@context'.repeat(10)],
    ['a long chain of prefixes', { a: 'http://a/', b: 'a:b', c: 'b:c', d: 'c:d', e: 'd:e', f: 'e:f' }, '/f'],
    ['a circle of prefixes', { x: 'http://x/', a: 'b:x', b: 'a:x' }, '/a'],
    [
      'names that processors stumble over',
      JSON.parse('{"__proto__": "http://a/", "hasOwnProperty": null}') as unknown,
      '/__proto__',
    ],
  ] as const) {
    it(`checking a context refuses ${what}`, async () => {
      assert.equal(pointersOf(await refusal(submitted))[0], pointer);
    });
  }

  it('nesting that would exhaust the stack is refused as too deep', () => {
    assert.equal(limitFaults(nested(100_000))[0]?.pointer, '/a/@context'.repeat(10));
  });

  it('a context may have exactly as many characters, maps, names and levels as the limits allow, and not one more', () => {
    const pad = (characters: number) => {
      const context = Array.from({ length: 99 }, () => ({ a: 'x'.repeat(2000), b: {} }));
      const left = characters - JSON.stringify([...context, { a: '', c: [] }]).length;
      const parts = Array.from({ length: Math.ceil(left / 2000) }, () => 'x'.repeat(1997));
      const last = { a: '', c: parts };
      const size = () => JSON.stringify([...context, last]).length;
      last.a = 'x'.repeat(2000);
      while (size() > characters) parts.pop();
      for (let missing = characters - size(); missing > 0; missing = characters - size())
        parts.push('x'.repeat(Math.max(0, Math.min(1997, missing - 3))));
      return [...context, last];
    };
    for (const [fits, exceeds] of [
      [pad(CONTEXT_LIMITS.characters), pad(CONTEXT_LIMITS.characters + 1)],
      [
        { a: { '@context': Array.from({ length: 99 }, () => ({})) } },
        { a: { '@context': Array.from({ length: 100 }, () => ({})) } },
      ],
      [
        { ['a'.repeat(CONTEXT_LIMITS.textCharacters)]: 'x' },
        { ['a'.repeat(CONTEXT_LIMITS.textCharacters + 1)]: 'x' },
      ],
      [levels(CONTEXT_LIMITS.depth), levels(CONTEXT_LIMITS.depth + 1)],
    ] as const) {
      assert.deepEqual(limitFaults(fits), []);
      assert.equal(limitFaults(exceeds).length, 1);
    }
  });

  it('checking a context reports only a few faults, however many there are', async () => {
    const many = Array.from({ length: 50_000 }, (_, index) => [`m${index}`, {}] as const);
    for (const submitted of [
      many.map(() => 1),
      many.map(() => []),
      [many.map(() => null)],
      { '@context': {}, ...Object.fromEntries(many) },
      { a: { '@context': many.map(() => 5) } },
    ]) {
      assert.ok((await refusal(submitted)).errors.length <= 20);
    }
  });

  it('checking a context returns a context or pointers to the faults, whatever the input', async () => {
    const names = fc.constantFrom(...words('a b @id @type @context @vocab @import __proto__ a:b'), CORE);
    const leaf = fc.oneof(names, fc.constantFrom(null, 1, true, 'http://a/', 'a:x', OTHER, '@id', ''));
    const anything = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(anything, async (submitted) => {
        try {
          await parse(submitted);
        } catch (error) {
          assert.ok(pointersOf(error).every((pointer) => pointer === '' || pointer.startsWith('/')));
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
