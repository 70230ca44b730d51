import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairQueue } from '../../../sidecar/jobs/fair-queue.js';

const items = fc.array(fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), n: fc.nat() }), {
  maxLength: 60,
});

function drained<Item>(queue: FairQueue<Item>): readonly Item[] {
  const taken: Item[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next);
  return taken;
}

describe('the queue of jobs', () => {
  it('gives back all that was added, once, and each owner’s in the order of arrival', () => {
    fc.assert(
      fc.property(items, (added) => {
        const queue = new FairQueue<(typeof added)[number]>();
        for (const item of added) queue.add(item.owner, item);
        assert.equal(queue.size, added.length);
        const taken = drained(queue);
        assert.equal(queue.size, 0);
        for (const owner of ['a', 'b', 'c', 'd'])
          assert.deepEqual(
            taken.filter((item) => item.owner === owner),
            added.filter((item) => item.owner === owner),
          );
      }),
    );
  });

  it('never lets an owner go twice before another one for whom something waits', () => {
    fc.assert(
      fc.property(items, (added) => {
        const queue = new FairQueue<(typeof added)[number]>();
        const waiting = new Map<string, number>();
        for (const item of added) {
          queue.add(item.owner, item);
          waiting.set(item.owner, (waiting.get(item.owner) ?? 0) + 1);
        }
        const sinceTurn = new Map<string, number>();
        for (const { owner } of drained(queue)) {
          sinceTurn.set(owner, 0);
          waiting.set(owner, (waiting.get(owner) ?? 0) - 1);
          for (const [other, left] of waiting) {
            if (other === owner || left === 0) continue;
            const passed = (sinceTurn.get(other) ?? 0) + 1;
            sinceTurn.set(other, passed);
            assert.ok(passed < waiting.size, `${other} was passed over ${String(passed)} times`);
          }
        }
      }),
    );
  });

  it('passes over what may not be taken now', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2']) queue.add('a', item);
    queue.add('b', 'b1');
    assert.equal(
      queue.take((item) => item !== 'a1'),
      'a2',
    );
    assert.equal(
      queue.take((item) => item !== 'a1'),
      'b1',
    );
    assert.equal(
      queue.take((item) => item !== 'a1'),
      undefined,
    );
    assert.equal(queue.take(), 'a1');
  });

  it('takes out one item by request, and says whether it waited', () => {
    const queue = new FairQueue<string>();
    queue.add('a', 'a1');
    assert.equal(
      queue.remove((item) => item === 'a1'),
      true,
    );
    assert.equal(
      queue.remove((item) => item === 'a1'),
      false,
    );
    assert.equal(queue.size, 0);
    assert.equal(queue.take(), undefined);
  });

  it('loses and repeats no item, and keeps the order of each owner, whatever is added, taken and removed', () => {
    const steps = fc.array(
      fc.record({
        act: fc.constantFrom('add', 'add', 'take', 'take some', 'remove'),
        owner: fc.constantFrom('a', 'b', 'c'),
        pick: fc.nat({ max: 5 }),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const queue = new FairQueue<string>();
        const waiting = new Map<string, string[]>([
          ['a', []],
          ['b', []],
          ['c', []],
        ]);
        const others = (item: string) => (waiting.get(item.charAt(0)) ?? []).filter((each) => each !== item);
        for (const [index, { act, owner, pick }] of all.entries()) {
          const own = waiting.get(owner) ?? [];
          if (act === 'add') {
            queue.add(owner, `${owner}${index}`);
            own.push(`${owner}${index}`);
          } else if (act === 'remove') {
            const meant = own[pick];
            assert.equal(
              queue.remove((item) => item === meant),
              meant !== undefined,
            );
            if (meant !== undefined) waiting.set(owner, others(meant));
          } else {
            const may = (item: string) => act === 'take' || item.startsWith(owner);
            const item = queue.take(may);
            const expected = [...waiting.values()]
              .map(([first]) => first)
              .filter((each) => each !== undefined && may(each));
            assert.equal(item === undefined, expected.length === 0);
            if (item === undefined) continue;
            assert.ok(expected.includes(item), 'the first of its owner');
            waiting.set(item.charAt(0), others(item));
          }
          assert.equal(queue.size, [...waiting.values()].flat().length);
        }
      }),
    );
  });

  it('serves every owner that waits before one of them again', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 }), (owners) => {
        const queue = new FairQueue<string>();
        for (const owner of owners) queue.add(owner, owner);
        const left: string[] = [...owners];
        while (left.length > 0) {
          const round = new Set<string>(left);
          const served = Array.from({ length: round.size }, () => queue.take() ?? '');
          assert.deepEqual(new Set(served), round);
          for (const owner of served) left.splice(left.indexOf(owner), 1);
        }
      }),
    );
  });
});
