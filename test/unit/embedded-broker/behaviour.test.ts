import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Chance, goodBehaviour } from '../../../sidecar/embedded-broker/behaviour.js';

const request = { method: 'GET', path: '/' };

it('the same seed gives the same faults and page sizes again', () => {
  const run = (seed: number) => {
    const chance = new Chance({
      ...goodBehaviour(),
      seed,
      faultRate: 0.5,
      faultKinds: ['429', '500'],
      shortPages: true,
    });
    return Array.from({ length: 50 }, () => [chance.nextFault(request), chance.pageSize(1000)]);
  };
  assert.deepEqual(run(7), run(7));
  assert.notDeepEqual(run(7), run(8));
});

it('faults occur as often as configured, and never without configuration', () => {
  const share = (faultRate: number) => {
    const chance = new Chance({ ...goodBehaviour(), faultRate });
    return (
      Array.from({ length: 4000 }, () => chance.nextFault(request)).filter((fault) => fault !== undefined)
        .length / 4000
    );
  };
  assert.equal(share(0), 0);
  assert.equal(share(1), 1);
  assert.ok(Math.abs(share(0.2) - 0.2) < 0.03);
});

it('failFirst fails the first chosen requests with each kind of fault in turn', () => {
  const behaviour = { ...goodBehaviour(), failFirst: 3, faultKinds: ['429', '503'] as const };
  behaviour.faultOn = ({ method }) => method === 'POST';
  const chance = new Chance(behaviour);
  const post = { method: 'POST', path: '/' };
  assert.deepEqual([request, post, post, request, post, post].map((each) => chance.nextFault(each)), [
      undefined, '429', '503', undefined, '429', undefined,
    ]); // oxfmt-ignore
  assert.equal(behaviour.failFirst, 0);
});
