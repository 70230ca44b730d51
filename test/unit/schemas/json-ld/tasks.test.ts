import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CORE } from './contexts.js';
import { bare, Desk } from './desk.js';
import { CITY, FEATURES, SHARED } from './features.js';
import { column } from '../../../support/columns.js';
import { words } from '../../../support/words.js';

/** As in the answer. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

async function settled(work: Promise<unknown>): Promise<unknown> {
  try {
    return asJson(await work);
  } catch (error) {
    const details = error instanceof Error && 'details' in error ? (error.details as { code?: string }) : {};
    return { failed: details.code ?? 'unforeseen' };
  }
}

describe('expanding and compacting', () => {
  // One worker for all tests: data kept of one document must not affect another.
  const desk = new Desk(SHARED);
  const alone = bare(SHARED);

  for (const [name, document] of Object.entries(FEATURES)) {
    it(`expansion and compaction return what the package alone returns: ${name}`, async () => {
      const expanded = await alone.expand(document);
      const contexts = [document['@context'], CITY, [CITY, CORE], {}, { '@vocab': 'https://ex.example/' }];
      const compacted = await Promise.all(
        contexts.map((context) => settled(alone.compact(document, context))),
      );
      for (const round of [1, 2]) {
        assert.deepEqual((await desk.expand({ document })).result, asJson(expanded), `round ${round}`);
        for (const [index, context] of contexts.entries()) {
          const { result } = await desk.compact({ document, context });
          assert.deepEqual(result, compacted[index]);
          const again = await desk.compact({ document: expanded, context: { '@context': context } });
          assert.deepEqual(again.result, compacted[index]);
        }
      }
    });
  }

  it('the context of the body is applied before those of the document', async () => {
    const document = { p: 1, q: 2, '@context': { q: 'https://inner.example/q' } };
    for (const context of [
      { p: 'https://outer.example/p', q: 'https://outer.example/q' },
      [CITY, { p: 'https://outer.example/p' }],
      null,
    ]) {
      const { result } = await desk.expand({ document, context });
      assert.deepEqual(result, asJson(await alone.expand(document, context ?? undefined)));
      const wrapped = await desk.expand({ document, context: { '@context': context } });
      assert.deepEqual(wrapped.result, result);
    }
  });

  it('compaction without a context uses that of the document, and names it as the document does', async () => {
    const own = ['https://city.example/base', { wood: 'https://city.example/wood' }];
    const document = { '@context': own, 'https://city.example/lamp': 1, 'https://city.example/wood': 'oak' };
    const expected = { '@context': own, lamp: 1, wood: 'oak' };
    assert.deepEqual((await desk.compact({ document })).result, expected);
    assert.deepEqual((await desk.compact({ document: [document] })).result, expected);
    assert.deepEqual((await desk.compact({ document: [document, document] })).result, {
      '@context': own,
      '@graph': [
        { lamp: 1, wood: 'oak' },
        { lamp: 1, wood: 'oak' },
      ],
    });
    const refusal = await desk.refused('compactDocument', {
      document: [document, { '@context': CITY, seats: 1 }],
    });
    assert.equal(refusal.kind, 'bodyInvalid');
    assert.deepEqual(column(refusal.errors, 'pointer'), ['/context']);
  });

  it('compaction with an imported context uses the importing context', async () => {
    const document = { '@context': 'https://city.example/importing', seats: 1, more: 2 };
    assert.deepEqual((await desk.compact({ document })).result, document);
  });

  it('compaction adds no context that was not requested, and does not treat null and nothing as contexts', async () => {
    const document = [{ '@id': 'urn:x:1', 'https://ex.example/p': [{ '@value': 1 }] }];
    const expected = { '@id': 'urn:x:1', 'https://ex.example/p': 1 };
    for (const body of [
      { document },
      { document, context: {} },
      { document, context: null },
      { document, context: [] },
    ])
      assert.deepEqual((await desk.compact(body)).result, expected);
  });

  it('expansion and compaction return what the package alone returns for any values under any names', async () => {
    const names = fc.constantFrom(...words('seats part value id type x'), '', '@id', 'toString', 'urn:x:y');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 0, 1.5, 'a', 'urn:x:1', '@id', ''),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    const context = fc.constantFrom<unknown>(CITY, [CITY, CORE], CORE, { '@vocab': 'https://v.example/' });
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(names, value, { maxKeys: 4, noNullPrototype: true }),
        context,
        async (members, own) => {
          const document = { '@context': own, ...members };
          const expected = await settled(alone.expand(document));
          const outcome = await desk.outcome('expandDocument', { document });
          if ('answer' in outcome)
            assert.deepEqual((JSON.parse(outcome.answer) as { result: unknown }).result, expected);
          else {
            assert.ok('refused' in outcome && typeof expected === 'object' && expected !== null);
            assert.equal(outcome.refused.kind, 'jsonLdInvalid');
            const { failed } = expected as { failed?: string };
            const phrase =
              failed === 'unforeseen' ? 'JSON-LD processors fail' : `(JSON-LD 1.1: ${String(failed)})`;
            assert.ok(outcome.refused.detail.includes(phrase), outcome.refused.detail);
          }
        },
      ),
    );
  });
});
