import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkContext, contextTerms } from '../../../../sidecar/schemas/json-ld/check-context.js';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import type { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { pointersOf } from './contexts.js';
import { Desk } from './desk.js';

const A = 'https://contexts.example/a';
const B = 'https://contexts.example/b';
const TERMS = { seats: 'https://terms.example/seats' };

describe('checking a context in a worker', () => {
  it('checking a context in a worker uses the newest core context for every version, and requests none', async () => {
    const desk = new Desk({ [A]: coreContextUrl('1.3') });
    for (const context of [
      [TERMS, coreContextUrl('1.3')],
      [A, coreContextUrl('1.8')],
    ])
      await desk.check(context);
    assert.deepEqual(desk.asked, [A]);
  });

  it('checking a context in a worker gives the reason for each unavailable context', async () => {
    const desk = new Desk({ [B]: { hasOwnProperty: 'urn:x' } });
    await assert.rejects(desk.check([TERMS, A, B], '/@context'), (error) => {
      assert.deepEqual(pointersOf(error), ['/@context/1', '/@context/2']);
      const [first, second] = (error as ContextInvalidError).errors;
      assert.equal(first?.detail, `There is no ${A}.`);
      assert.match(second?.detail ?? '', /hasOwnProperty/);
      return true;
    });
  });

  it('a context that was found under another URL names others relative to that URL', async () => {
    const supplyOf = (context: unknown, documentUrl?: string) => ({
      sha256: JSON.stringify(context),
      text: JSON.stringify({ '@context': context }),
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
