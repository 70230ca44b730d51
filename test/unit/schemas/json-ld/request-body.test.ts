import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unwrapped } from '../../../../sidecar/schemas/json-ld/context-form.js';
import { placesOfUrl } from '../../../../sidecar/schemas/json-ld/processor-refusals.js';
import { readRequest } from '../../../../sidecar/schemas/json-ld/request-body.js';

describe('the body of an expansion', () => {
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
