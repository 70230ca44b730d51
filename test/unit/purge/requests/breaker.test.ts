import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBreaker } from '../../../../sidecar/purge/requests/availability.js';

const times = (count: number, action: (index: number) => void) => {
  for (let index = 0; index < count; index++) action(index);
};

describe('breaker', () => {
  it('breaker opens at the twentieth failure in a row, and not before', () => {
    const breaker = createBreaker();
    times(19, () => breaker.failed());
    assert.equal(breaker.isOpen, false);
    breaker.failed();
    assert.equal(breaker.isOpen, true);
  });

  it('breaker starts counting anew after any success', () => {
    const breaker = createBreaker();
    times(19, () => breaker.failed());
    breaker.succeeded();
    times(19, () => breaker.failed());
    assert.equal(breaker.isOpen, false);
    breaker.failed();
    assert.equal(breaker.isOpen, true);
    breaker.succeeded();
    assert.equal(breaker.isOpen, false);
  });

  it('breaker forgets after a success what failed before it, requests and items alike', () => {
    for (const before of [
      (breaker: ReturnType<typeof createBreaker>) => times(19, () => breaker.failed()),
      (breaker: ReturnType<typeof createBreaker>) => times(19, (index) => breaker.failed(`urn:x:${index}`)),
    ]) {
      const breaker = createBreaker();
      before(breaker);
      breaker.succeeded();
      times(100, () => breaker.failed('urn:x:0'));
      assert.equal(breaker.isOpen, false, 'all failures since belong to one item');
    }
  });

  it('breaker stays closed while all failures belong to a few items', () => {
    const breaker = createBreaker();
    times(400, (index) => breaker.failed(`urn:ngsi-ld:T:${index % 4}`));
    assert.equal(breaker.isOpen, false);
  });

  it('breaker opens when the failures belong to many items', () => {
    const breaker = createBreaker();
    times(20, (index) => breaker.failed(`urn:ngsi-ld:T:${index % 5}`));
    assert.equal(breaker.isOpen, true);
  });

  it('breaker counts failed queries and batches beside those of items', () => {
    const breaker = createBreaker();
    times(30, () => breaker.failed('urn:ngsi-ld:T:1'));
    times(3, () => breaker.failed());
    assert.equal(breaker.isOpen, false);
    breaker.failed();
    assert.equal(breaker.isOpen, true);
  });

  it('breaker forgets hopeless items with the success that follows them', () => {
    const breaker = createBreaker();
    times(10, (index) => breaker.failed(`urn:ngsi-ld:T:${index}`));
    breaker.succeeded();
    times(40, () => breaker.failed('urn:ngsi-ld:T:1'));
    assert.equal(breaker.isOpen, false);
  });

  it('breaker counts each item once after one was deleted singly, since the broker can delete', () => {
    const breaker = createBreaker();
    breaker.succeeded('urn:ngsi-ld:T:0');
    // An answered query does not change that.
    breaker.succeeded();
    times(400, (index) => breaker.failed(`urn:ngsi-ld:T:${index % 19}`));
    assert.equal(breaker.isOpen, false);
    breaker.failed('urn:ngsi-ld:T:19');
    assert.equal(breaker.isOpen, true);
  });

  it('breaker keeps items apart, even if one is a name of Object.prototype', () => {
    const breaker = createBreaker();
    times(40, (index) => breaker.failed(['constructor', '__proto__', 'toString'][index % 3]));
    assert.equal(breaker.isOpen, false);
  });
});
