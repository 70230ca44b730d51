import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  checkContext,
  type CheckOutcome,
  contextTerms,
  parseContext,
} from '../../../../sidecar/schemas/json-ld/check-context.js';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { runWithContexts } from '../../../../sidecar/schemas/json-ld/outcomes.js';
import { CORE, loaderOf } from './contexts.js';
import { Desk } from './desk.js';

const A = 'https://contexts.example/a';
const B = 'https://contexts.example/b';
const TERMS = { seats: 'https://terms.example/seats' };

function check(submitted: unknown, desk: Desk): ReturnType<typeof runWithContexts<CheckOutcome>> {
  const text = JSON.stringify(submitted);
  return runWithContexts<CheckOutcome>(
    (supplied) => checkContext({ text, pointer: '/@context', supplied }),
    desk.supply,
  );
}

describe('checking a context in a worker', () => {
  it('checking a context in a worker gives the same result as checking it here', async () => {
    const contexts = { [A]: TERMS, [B]: [A, { part: 'https://terms.example/part' }] };
    for (const submitted of [
      TERMS,
      { '@context': [A, B, TERMS, CORE] },
      B,
      [],
      { seats: 5 },
      { a: 'b', b: 'a' },
      { location: 'https://terms.example/location' },
      [{ ...TERMS, '@protected': true, type: 'https://terms.example/type' }],
      { Bench: { '@id': 'https://terms.example/Bench', '@context': B } },
      { '@import': A, more: 'https://terms.example/more' },
      { '@import': B },
      { a: { '@id': 'https://terms.example/a', '@type': '@id' } },
      [[A]],
      ['relative'],
    ]) {
      const found = await check(submitted, new Desk(contexts));
      try {
        const { urls, warnings } = await parseContext(submitted, {
          load: loaderOf(contexts),
          pointer: '/@context',
        });
        assert.deepEqual(found, { checked: { urls, warnings } });
      } catch (error) {
        if (!(error instanceof ContextInvalidError)) throw error;
        assert.deepEqual(found, { invalid: error.errors }, JSON.stringify(submitted));
      }
    }
  });

  it('checking a context in a worker asks for all named contexts in each round, and for none twice', async () => {
    const desk = new Desk({ [A]: [B], [B]: TERMS, 'https://contexts.example/c': TERMS });
    const found = await check([A, { t: { '@id': 'urn:t', '@context': 'https://contexts.example/c' } }], desk);
    assert.ok('checked' in found);
    assert.deepEqual(desk.asked, [A, 'https://contexts.example/c', B]);
  });

  it('checking a context in a worker asks at once for everything that the known contexts name', async () => {
    const text = JSON.stringify({ '@context': [B, A] });
    const supplied = [
      [A, { sha256: 'x', text: JSON.stringify({ '@context': ['urls', 'more', {}] }) }],
    ] as const;
    const outcome = await checkContext({ text, pointer: '', supplied });
    assert.deepEqual(outcome, {
      needs: { urls: [B, 'https://contexts.example/urls', 'https://contexts.example/more'] },
    });
  });

  it('checking a context in a worker takes every version of the core context for the newest, and asks for none', async () => {
    const desk = new Desk({ [A]: coreContextUrl('1.3') });
    for (const context of [
      [TERMS, coreContextUrl('1.3')],
      [A, coreContextUrl('1.8')],
    ])
      assert.ok('checked' in (await check(context, desk)));
    assert.deepEqual(desk.asked, [A]);
  });

  it('checking a context in a worker gives the reason for each unavailable context', async () => {
    const desk = new Desk({ [B]: { hasOwnProperty: 'urn:x' } });
    const found = await check([TERMS, A, B], desk);
    assert.ok('invalid' in found);
    assert.deepEqual(
      found.invalid.map(({ pointer }) => pointer),
      ['/@context/1', '/@context/2'],
    );
    assert.equal(found.invalid[0]?.detail, `There is no ${A}.`);
    assert.match(found.invalid[1]?.detail ?? '', /hasOwnProperty/);
  });

  it('a context that was found elsewhere names others relative to where it was found', async () => {
    const supplyOf = (context: unknown, documentUrl?: string) => ({
      ...{ sha256: JSON.stringify(context), text: JSON.stringify({ '@context': context }) },
      ...(documentUrl === undefined ? {} : { documentUrl }),
    });
    const supplied = [
      [A, supplyOf(['part'], 'https://moved.example/dir/a')],
      ['https://moved.example/dir/part', supplyOf(TERMS)],
    ] as const;
    const checked = await checkContext({ text: JSON.stringify(A), pointer: '', supplied });
    assert.deepEqual(checked, { checked: { urls: [A], warnings: [] } });
    const terms = await contextTerms({ text: JSON.stringify([A]), supplied });
    assert.deepEqual(terms, { terms: Object.entries(TERMS), defaults: {} });
  });
});
