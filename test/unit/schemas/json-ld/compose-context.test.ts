import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { composeContext } from '../../../../sidecar/schemas/json-ld/compose-context.js';
import { CONTEXT_LIMITS } from '../../../../sidecar/schemas/json-ld/context-safety.js';
import { contextMeaning } from '../../../../sidecar/schemas/json-ld/context-terms.js';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import type { ContextResults } from '../../../../sidecar/schemas/json-ld/errors.js';
import { loaderOf } from './contexts.js';

const A = 'https://contexts.example/a';
const KEPT = 'https://here.example/contexts/';
const EX = 'https://terms.example/';
const GENERATED = { Bench: `${EX}generated/Bench`, seats: `${EX}generated/seats` };

/** Contexts by their URLs; an array is a context and the URL under which it was finally found. */
function suppliedOf(contexts: Readonly<Record<string, unknown>>): ContextResults {
  return Object.entries(contexts).map(([url, given]) => {
    const { context, documentUrl } = isMoved(given) ? given : { context: given, documentUrl: undefined };
    const text = JSON.stringify({ '@context': context });
    return [url, { sha256: text, text, ...(documentUrl === undefined ? {} : { documentUrl }) }];
  });
}

interface Moved {
  readonly context: unknown;
  readonly documentUrl: string;
}

function isMoved(given: unknown): given is Moved {
  return typeof given === 'object' && given !== null && 'documentUrl' in given;
}

const outcomeOf = (
  submitted: unknown,
  contexts: Readonly<Record<string, unknown>> = {},
  generated: Readonly<Record<string, string>> = GENERATED,
) =>
  composeContext({
    text: JSON.stringify(submitted),
    pointer: '/context',
    generated,
    keptBase: KEPT,
    supplied: suppliedOf(contexts),
  });

async function composed(...given: Parameters<typeof outcomeOf>) {
  const outcome = await outcomeOf(...given);
  assert.ok('composed' in outcome, JSON.stringify(outcome));
  const { text, ...others } = outcome.composed;
  return { ...others, context: (JSON.parse(text) as Record<string, unknown>)['@context'] };
}

describe('the context of a model with its own context', () => {
  it('a term that the context of the model removes is not generated', async () => {
    const { context, ownTerms } = await composed({ seats: null });
    assert.deepEqual(context, [{ Bench: GENERATED.Bench }, { seats: null }, coreContextUrl()]);
    assert.deepEqual(ownTerms, ['seats']);
  });

  it('a term that the context of the model defines by the name of another one keeps its meaning', async () => {
    const own = { '@vocab': EX, places: 'seats', wood: { '@id': 'Wood' } };
    const { context, ownTerms } = await composed(own);
    const { Bench, seats } = GENERATED;
    assert.deepEqual(context, [{ Bench }, own, { seats }, coreContextUrl()]);
    assert.deepEqual(ownTerms, ['seats']);
    const { terms } = await contextMeaning((context as readonly unknown[]).slice(0, -1), loaderOf());
    assert.deepEqual([terms.get('places'), terms.get('seats')], [`${EX}seats`, seats]);
  });

  it('a context of this service stays a URL, and then everything is generated', async () => {
    const stays = `${KEPT}bench`;
    for (const [submitted, others] of [
      [[stays, { more: `${EX}more` }], {}],
      [A, { [A]: [stays, { more: `${EX}more` }] }],
      [{ '@import': stays, more: `${EX}more` }, {}],
      [{ '@context': [stays, { more: `${EX}more` }] }, {}],
    ] as const) {
      const found = await composed(submitted, { [stays]: { seats: `${EX}seats` }, ...others });
      const own = '@import' in Object(submitted) ? [submitted] : [stays, { more: `${EX}more` }];
      assert.deepEqual(found.context, [GENERATED, ...own, coreContextUrl()]);
      assert.deepEqual(found.ownTerms, []);
      assert.deepEqual(found.embeddedUrls, submitted === A ? [A] : []);
    }
  });

  it('the core context of any version appears once, at the end, even if a document names it', async () => {
    const { context, embeddedUrls } = await composed([coreContextUrl('1.3'), A], {
      [A]: [{ seats: `${EX}seats` }, coreContextUrl()],
    });
    assert.deepEqual(context, [{ Bench: GENERATED.Bench }, { seats: `${EX}seats` }, coreContextUrl()]);
    assert.deepEqual(embeddedUrls, [A]);
  });

  it('scoped contexts contain the documents that they name, one or more, and null stays null', async () => {
    const scoped = (context: unknown) => ({ seats: { '@id': `${EX}seats`, '@context': context } });
    for (const [named, embedded] of [
      [{ a: `${EX}a` }, { a: `${EX}a` }],
      [
        [{ a: `${EX}a` }, { b: `${EX}b` }],
        [{ a: `${EX}a` }, { b: `${EX}b` }],
      ],
    ] as const) {
      const { context } = await composed(scoped(A), { [A]: named });
      assert.deepEqual(context, [{ Bench: GENERATED.Bench }, scoped(embedded), coreContextUrl()]);
    }
    const { context } = await composed(scoped(null));
    assert.deepEqual(context, [{ Bench: GENERATED.Bench }, scoped(null), coreContextUrl()]);
  });

  it('scoped contexts that lead to each other endlessly are refused', async () => {
    const round = { seats: { '@id': `${EX}seats`, '@context': A } };
    assert.deepEqual(await outcomeOf(A, { [A]: round }), {
      invalid: [{ pointer: '/context', detail: 'Its scoped contexts refer to each other in a cycle.' }],
    });
  });

  it('the limits of a context apply to all of it, with its generated terms and embedded documents', async () => {
    const maps = (count: number) => Array.from({ length: count }, (_, at) => ({ [`t${at}`]: `${EX}t${at}` }));
    const most = CONTEXT_LIMITS.contexts - 2;
    assert.ok('composed' in (await outcomeOf(A, { [A]: maps(most) })));
    for (const outcome of [
      await outcomeOf(maps(most + 1)),
      await outcomeOf([A, { first: `${EX}first` }], { [A]: maps(most) }),
    ]) {
      assert.ok('invalid' in outcome);
      const detail =
        'A context may consist of at most 100 maps and URLs, scoped ones included; this one has 101.';
      assert.deepEqual(outcome.invalid, [{ pointer: '/context', detail }]);
    }
  });
});
