import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ALWAYS,
  History,
  InstanceIds,
  TemporalInstance,
} from '../../../sidecar/embedded-broker/temporal-history.js';

const iso = (second: number) => new Date(second * 1000).toISOString();

function instance(number: number, members: Record<string, string> = {}, createdAt = number) {
  return new TemporalInstance(
    number,
    { type: 'Property', value: number, ...members },
    { createdAt, modifiedAt: createdAt },
  );
}

const numbers = (instances: Iterable<TemporalInstance>) => Array.from(instances, ({ number }) => number);

it('the history of an attribute compares moments, not notations', () => {
  const history = new History();
  history.add([
    instance(1, { observedAt: '2026-01-01T12:00:00+02:00' }),
    instance(2, { observedAt: '2026-01-01T09:59:59,5Z' }),
  ]);
  assert.deepEqual(numbers(history.within('observedAt', ALWAYS)), [2, 1]);
});

it('the history of an attribute agrees with a simple implementation after many deletions, in both orders', () => {
  const times = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 200, maxLength: 400 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 397 }), fc.nat(400), (seconds, stride, amount) => {
      const history = new History();
      const all = seconds.map((second, at) => instance(at + 1, { observedAt: iso(second) }, 1000 - second));
      // Instances added after a read are sorted in at the next read.
      for (const some of [all.slice(0, 150), all.slice(150)]) {
        history.add(some);
        numbers(history.within('observedAt', ALWAYS));
      }
      const gone = new Set<number>();
      for (let at = 0; at < amount; at += 1) {
        const number = 1 + ((at * stride) % all.length);
        assert.equal(history.delete(number), !gone.has(number));
        gone.add(number);
      }
      const left = all.filter(({ number }) => !gone.has(number));
      const by = (timeOf: (index: number) => number) =>
        numbers([...left].sort((a, b) => timeOf(a.number - 1) - timeOf(b.number - 1)));
      assert.equal(history.size, left.length);
      assert.deepEqual(numbers(history.all()), numbers(left));
      assert.deepEqual(
        numbers(history.within('observedAt', ALWAYS)),
        by((index) => seconds[index] ?? 0),
      );
      const backwards = by((index) => -(seconds[index] ?? 0));
      assert.deepEqual(numbers(history.within('createdAt', ALWAYS)), backwards);
      assert.deepEqual(numbers(history.within('createdAt', ALWAYS, true)), backwards.toReversed());
      // Including the lower bound, excluding the upper bound.
      const middle = left.filter(({ number }) => {
        const second = seconds[number - 1] ?? 0;
        return second >= 10 && second < 40;
      });
      assert.deepEqual(
        numbers(history.within('observedAt', { from: 10_000, to: 40_000 })).sort((a, b) => a - b),
        numbers(middle),
      );
    }),
    { numRuns: 40 },
  );
});

it('the history of an attribute deletes 100,000 of 200,000 instances without visiting the others for each', () => {
  const history = new History();
  history.add(Array.from({ length: 200_000 }, (_, at) => instance(at + 1, { observedAt: iso(at % 1000) })));
  assert.equal(history.hasWithin('observedAt', ALWAYS), true);
  const start = process.cpuUsage();
  for (let number = 1; number <= 200_000; number += 2) history.delete(number);
  const { user, system } = process.cpuUsage(start);
  assert.equal(history.size, 100_000);
  // This takes about 0.1 s. Visiting all instances for each deletion would take minutes.
  assert.ok(user + system < 5_000_000, `${user + system} µs`);
});

it('instance ids are URIs that contain the number of the instance', () => {
  const ids = new InstanceIds();
  for (const number of [1, 255, 2 ** 40]) {
    const id = ids.idOf(instance(number));
    assert.match(id, /^urn:ngsi-ld:Instance:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    assert.equal(ids.numberOf(id), number);
  }
});

it('instance ids of other brokers have no number', () => {
  const ids = new InstanceIds();
  const good = ids.idOf(instance(7));
  const others = ['', 'urn:x:1', new InstanceIds().idOf(instance(7)), good.slice(0, -1), `${good}0`,
      good.slice(0, -1) + 'G', good.slice(0, -2) + ' 7']; // oxfmt-ignore
  for (const other of others) assert.equal(ids.numberOf(other), undefined, other);
});
