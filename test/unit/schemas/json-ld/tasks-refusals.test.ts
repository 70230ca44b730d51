import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CORE } from './contexts.js';
import { runWithContexts } from '../../../../sidecar/schemas/json-ld/outcomes.js';
import { Desk } from './desk.js';

const P = 'https://terms.example/p';
const desk = new Desk();

describe('bodies of JSON-LD tasks', () => {
  it('JSON-LD bodies that are not unambiguous JSON are refused, with the place', async () => {
    for (const [text, line, column] of [
      ['{"document":', 1, 13],
      ['{\n"document": {}, "document": {}}', 2, 17],
      ['{"document": {"__proto__": {}}}', 1, 15],
    ] as const) {
      const outcome = await desk.outcome('expandDocument', text);
      assert.ok('unreadable' in outcome);
      assert.deepEqual([outcome.unreadable.line, outcome.unreadable.column], [line, column]);
    }
  });

  it('JSON-LD bodies of another form are refused at all faulty places', async () => {
    for (const [body, pointers] of [
      [5, ['']],
      [{}, ['']],
      [{ document: 'https://documents.example/1' }, ['/document']],
      [{ document: null, safe: 'yes', extra: 1 }, ['/document', '/safe', '/extra']],
      [{ document: {}, context: 5 }, ['/context']],
      [{ document: {}, context: [CORE, 5, [CORE]] }, ['/context/1', '/context/2']],
      [{ document: {}, context: { '@context': [true], p: P } }, ['/context/p', '/context/@context/0']],
      [{ document: {}, context: [{ '@context': {} }] }, ['/context/0/@context']],
    ] as const)
      for (const kind of ['expandDocument', 'compactDocument'] as const) {
        const outcome = await desk.outcome(kind, JSON.stringify(body));
        assert.ok('refused' in outcome);
        assert.equal(outcome.refused.kind, 'bodyInvalid');
        assert.deepEqual(
          outcome.refused.errors.map(({ pointer }) => pointer),
          pointers,
          JSON.stringify(body),
        );
      }
  });

  it('JSON-LD bodies that break a rule are refused with the rule, at every place that may break it', async () => {
    for (const [document, pointer, phrase] of [
      [{ '@context': CORE, a: [{ id: 5 }] }, '/document/a/0/id', 'invalid @id value'],
      [{ '@context': CORE, a: [{ id: 5 }, { id: 5 }] }, '/document/a/0/id', 'invalid @id value'],
      [{ '@context': CORE, type: [5] }, '/document/type', 'invalid type value'],
      [{ '@context': CORE, languageMap: { en: 7 } }, '/document/languageMap', 'invalid language map value'],
      [{ '@context': { p: { '@id': P, '@type': 'x' } } }, '/document', 'invalid type mapping'],
      [{ '@context': [CORE, { id: P }] }, '/document/@context/1/id', 'protected term redefinition'],
      [{ '@context': { p: 'q', q: 'p' } }, '/document/@context/p', 'leads back to itself'],
      [{ '@context': CORE, 'x:y': 1, '@id': 'urn:a', id: 'urn:b' }, '/document', 'colliding keywords'],
    ] as const) {
      const { kind, detail, errors } = await desk.refused('expandDocument', { document });
      assert.equal(kind, 'jsonLdInvalid');
      assert.ok(detail.includes(phrase), detail);
      assert.equal(errors[0]?.pointer, pointer, detail);
    }
  });
});

describe('safe processing', () => {
  it('safe processing refuses documents whose data would be dropped, and names the data and the places', async () => {
    const document = { '@context': { p: P }, '@id': 'car', p: 1, lost: { p: 2 }, q: [{ lost: 3 }] };
    for (const task of ['expandDocument', 'compactDocument'] as const) {
      const { kind, detail, errors } = await desk.refused(task, { document, safe: true });
      assert.equal(kind, 'dataDropped');
      assert.match(detail, /"car"|"lost"|"q"/);
      assert.deepEqual(
        new Set(errors.map(({ pointer }) => pointer)),
        new Set(['/document/@id', '/document/lost', '/document/q']),
      );
    }
  });

  it('safe processing returns the result if nothing is dropped', async () => {
    const document = { '@context': CORE, id: 'urn:x:1', type: 'T', speed: { type: 'Property', value: [1] } };
    const { result, warnings } = await desk.compact({ document, safe: true });
    assert.deepEqual(result, { ...document, speed: { type: 'Property', value: 1 } });
    assert.deepEqual(warnings, []);
  });
});

describe('limits of JSON-LD tasks', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, `https://terms.example/${n}`]));

  it('the limits of JSON-LD apply to contexts at any place of a request', async () => {
    const tooMany = many(10_001);
    for (const [body, pointer] of [
      [{ document: {}, context: tooMany }, '/context'],
      [{ document: { '@context': [CORE, tooMany] } }, '/document/@context'],
      [{ document: [{}, { '@context': tooMany }] }, '/document/1/@context'],
      [{ document: { '@context': CORE, a: [{ b: { '@context': tooMany } }] } }, '/document/a/0/b/@context'],
      [{ document: { '@context': nested(30) } }, '/document/@context'],
    ] as const) {
      const { kind, errors } = await desk.refused('expandDocument', body);
      assert.equal(kind, 'limitExceeded');
      assert.ok(errors[0]?.pointer.startsWith(pointer), errors[0]?.pointer);
    }
  });

  it('a document may have exactly a hundred different contexts, in addition to that of the request', async () => {
    const own = (n: number) => ({ '@context': { t: `https://terms.example/${n}` }, t: n });
    const some = (count: number) => Array.from({ length: count }, (_, n) => own(n));
    const context = { p: P };
    const inside = (count: number) => ({ p: some(count) });
    for (const accepted of [
      { document: some(100) },
      { document: some(100), context },
      { document: inside(100), context },
      { document: { ...inside(99), '@context': context } },
      { document: Array.from({ length: 200 }, () => own(0)) },
    ])
      await desk.expand(accepted);
    for (const refused of [
      { document: some(101) },
      { document: some(101), context },
      { document: some(101), context: own(0)['@context'] },
      { document: inside(101), context },
      { document: { ...inside(100), '@context': context } },
    ]) {
      const { kind, errors } = await desk.refused('expandDocument', refused);
      assert.equal(kind, 'limitExceeded');
      const detail = 'A document may have at most 100 different contexts; this one has 101.';
      assert.deepEqual(errors, [{ pointer: '/document', detail }]);
    }
  });

  it('the number of contexts to which URLs lead is limited', async () => {
    const url = (n: number) => `https://contexts.example/${n}`;
    const chain = new Desk(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [url(n), url(n + 1)])));
    const { kind } = await chain.refused('expandDocument', { document: { '@context': url(0), p: 1 } });
    assert.equal(kind, 'limitExceeded');
    assert.ok(chain.asked.length <= 100);
    const halves = ['a', 'b'].map((half) => `https://contexts.example/${half}`);
    const named = halves.map((half) => Array.from({ length: 60 }, (_, n) => [`${half}${n}`, {}] as const));
    const known = new Desk(
      Object.fromEntries<unknown>([
        ...halves.map((half, index) => [half, named[index]?.map(([one]) => one)] as const),
        ...named.flat(),
      ]),
    );
    for (const half of halves) await known.expand({ document: { '@context': half, 'urn:p:p': 1 } });
    const both = await known.refused('expandDocument', { document: { '@context': halves } });
    assert.match(both.detail, /more than 100 others/);
  });

  it('the size of a JSON-LD result is limited', async () => {
    const context = { '@vocab': `https://terms.example/${'x'.repeat(2000)}/` };
    const document = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`t${n}`, n]));
    const { kind, detail } = await desk.refused('expandDocument', { document, context });
    assert.equal(kind, 'limitExceeded');
    assert.match(detail, /result/);
  });
});

describe('refusals of JSON-LD', () => {
  it('refusals of JSON-LD have the error code of the standard, also for contexts', async () => {
    const url = 'https://contexts.example/list';
    const supply = async () => Promise.resolve({ sha256: 'a'.repeat(64), text: '[{"p": "urn:p"}]' });
    const text = JSON.stringify({ document: { '@context': [url], p: 1 } });
    const outcome = await runWithContexts(
      (supplied) => desk.tasks.expandDocument({ text, stamp: 'list', supplied }),
      supply,
    );
    assert.ok('refused' in outcome);
    assert.equal(outcome.refused.kind, 'contextInvalid');
    assert.equal(outcome.refused.url, url);
    assert.match(outcome.refused.detail, /JSON-LD 1\.1: invalid remote context/);
    assert.deepEqual(
      outcome.refused.errors.map(({ pointer }) => pointer),
      ['/document/@context/0'],
    );
    const cyclic = { '@context': { term: { '@id': 'term:term' } }, '@id': 'urn:a:b' };
    const { detail } = await desk.refused('expandDocument', { document: cyclic });
    assert.match(detail, /JSON-LD 1\.1: cyclic IRI mapping/);
  });

  it('refusals of JSON-LD point at members of the document, even if the processor has rewritten their value', async () => {
    // The processor shows its own form of the value: {"@type": ["Property"], "@value": ["2021"]}.
    const bad = { type: { '@type': 'Property', '@value': '2021' } };
    const typed = await desk.refused('expandDocument', {
      document: { '@context': CORE, a: bad, b: { type: 'Point' } },
    });
    assert.deepEqual(
      typed.errors.map(({ pointer }) => pointer),
      ['/document/a/type'],
    );
    const id = { type: 'Property', value: '1' };
    const twice = await desk.refused('expandDocument', {
      document: { '@context': CORE, a: { id }, b: [{ id, c: id }] },
    });
    assert.deepEqual(
      twice.errors.map(({ pointer }) => pointer),
      ['/document/a/id', '/document/b/0/id'],
    );
  });

  it('refusals of JSON-LD point at the unavailable context', async () => {
    const gone = 'https://contexts.example/gone';
    for (const [body, pointer] of [
      [{ document: { '@context': [CORE, gone], p: 1 } }, '/document/@context/1'],
      [{ document: { p: 1 }, context: gone }, '/context'],
      [{ document: { p: 1 }, context: { a: { '@id': P, '@context': gone } } }, '/context/a/@context'],
    ] as const) {
      const { errors } = await desk.refused('expandDocument', body);
      assert.deepEqual(
        errors.map((error) => error.pointer),
        [pointer],
      );
    }
  });
});

describe('hostile contexts', () => {
  it('hostile contexts change no property that all objects inherit', async () => {
    const own = Object.getOwnPropertyNames(Object);
    const hostile = { '@base': null, '@vocab': '', 'con:structor': {}, con: {}, 'to:String': {}, to: {} };
    const document = { 'https://terms.example/p': 1 };
    await desk.outcome('compactDocument', { document, context: hostile });
    await desk.outcome('compactDocument', {
      document,
      context: { '@vocab': '', '__pro:to__': {}, __pro: {}, constructor: {} },
    });
    assert.deepEqual(Object.getOwnPropertyNames(Object), own);
    const inherited: string[] = [];
    for (const name in {}) inherited.push(name);
    assert.deepEqual(inherited, []);
    const inherit = Object.values(Object.getOwnPropertyDescriptors(Object.prototype)) as readonly {
      value?: unknown;
    }[];
    for (const { value } of inherit) assert.deepEqual(Object.keys(Object(value) as object), []);
    assert.deepEqual((await desk.compact({ document, context: { '@vocab': '', p: P } })).result, {
      '@context': { '@vocab': '', p: P },
      p: 1,
    });
  });
});

/** A context whose terms have contexts of their own, to this depth. */
function nested(depth: number): unknown {
  return depth === 0 ? {} : { t: { '@id': P, '@context': nested(depth - 1) } };
}
