import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unwrapped } from '../../../../sidecar/schemas/json-ld/context-form.js';
import { surveyOf } from '../../../../sidecar/schemas/json-ld/document-survey.js';
import { placesOfUrl } from '../../../../sidecar/schemas/json-ld/processor-refusals.js';
import { readRequest } from '../../../../sidecar/schemas/json-ld/request-body.js';

describe('the body of an expansion', () => {
  it('the body of an expansion is lenient by default, and its context is unwrapped', () => {
    const document = { a: 1 };
    assert.deepEqual(readRequest({ document }), {
      document,
      context: undefined,
      contextPointer: '/context',
      safe: false,
    });
    assert.deepEqual(readRequest({ document, safe: true, context: { '@context': null } }), {
      document,
      context: null,
      contextPointer: '/context/@context',
      safe: true,
    });
  });

  it('at most a hundred faults of a body are listed', () => {
    const faultsOf = (count: number) => {
      const body = Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, 1]));
      const read = readRequest({ document: {}, ...body });
      assert.ok('faults' in read);
      return read.faults.length;
    };
    assert.deepEqual([faultsOf(99), faultsOf(100), faultsOf(101)], [99, 100, 100]);
  });

  it('each other member beside @context is a fault, twenty at most', () => {
    const beside = (count: number) => {
      const members = Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, 1]));
      return unwrapped({ '@context': {}, ...members }, '/at').faults;
    };
    assert.deepEqual(beside(2)[0]?.pointer, '/at/x0');
    assert.deepEqual([beside(2).length, beside(20).length, beside(21).length], [2, 20, 20]);
  });

  it('an unavailable context is reported at all places that name it, twenty at most, or else at the document', () => {
    const url = 'https://contexts.example/x';
    const places = (count: number, context?: unknown) =>
      placesOfUrl(url, {
        document: Array.from({ length: count }, () => ({ '@context': [{}, url] })),
        context,
        contextPointer: '/context',
        safe: false,
      });
    assert.deepEqual(places(1, url), ['/context', '/document/0/@context/1']);
    assert.deepEqual([places(20).length, places(21).length], [20, 20]);
    assert.deepEqual(places(0), ['/document']);
  });
});

describe('the survey of a document', () => {
  it('the values that may not survive a round trip are arrays with at most one item, nulls, and everything around them', () => {
    const isFragile = (value: unknown) => surveyOf({ outer: { inner: value } }).fragile.size > 0;
    for (const fragile of [[], [1], [[1, 2], 3], null, [null, 1], { a: [1] }, [{ a: null }, 1], ['x']])
      assert.ok(isFragile(fragile), JSON.stringify(fragile));
    for (const sound of [1, 'x', {}, [1, 2], [{ a: 1 }, { b: 2 }], { a: [1, 2] }])
      assert.ok(!isFragile(sound), JSON.stringify(sound));
    // The array of a document is not a value in the document.
    assert.equal(surveyOf([{ a: 1 }]).fragile.size, 0);
    assert.equal(surveyOf([]).fragile.size, 0);
  });

  it('the contexts of a document are distinguished by their places, and are not values', () => {
    const inner = { '@context': { c: [1] }, d: 1 };
    const { outerContexts, innerContexts, hasNull, fragile } = surveyOf([
      { '@context': null, a: inner },
      { '@context': 'x', b: [inner, { e: 1 }] },
    ]);
    assert.deepEqual(outerContexts, [null, 'x']);
    assert.deepEqual(innerContexts, [{ c: [1] }, { c: [1] }]);
    assert.deepEqual([hasNull, fragile.size], [false, 0]);
  });
});
