import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TemporalInstance, InstanceOrder } from '../../../sidecar/embedded-broker/temporal-history.js';

const written = { createdAt: 0, modifiedAt: 0 };

/** An order by the value of the instances, and the same written the slow and obvious way. */
class Subject {
  readonly order = new InstanceOrder(({ body }) => Number(body['value']));
  model: TemporalInstance[] = [];
  #number = 0;

  add(keys: readonly number[]): void {
    const instances = keys.map((value) => {
      this.#number += 1;
      return new TemporalInstance(this.#number, { value }, written);
    });
    this.order.add(instances);
    this.model.push(...instances);
  }

  /** Deletes the instances at every `step`-th place, in the order of their numbers. */
  deleteEvery(step: number): void {
    for (const instance of this.model.filter((_, at) => at % step === 0)) {
      instance.live = false;
      this.order.noteDeath();
    }
    this.model = this.model.filter(({ live }) => live);
  }

  check(from: number, to: number): void {
    const key = ({ body }: TemporalInstance) => Number(body['value']);
    const expected = this.model
      .filter((instance) => key(instance) >= from && key(instance) < to)
      .sort((a, b) => key(a) - key(b) || a.number - b.number);
    assert.deepEqual([...this.order.within({ from, to })], expected);
    assert.deepEqual([...this.order.within({ from, to }, true)], expected.reverse());
  }
}

const key = fc.oneof(fc.integer({ min: -3, max: 40 }), fc.constant(-Infinity));
const command = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), keys: fc.array(key, { maxLength: 90 }) }),
  fc.record({ kind: fc.constant('add sorted' as const), keys: fc.array(key, { maxLength: 90 }) }),
  fc.record({ kind: fc.constant('delete' as const), step: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('look' as const), from: key, to: key }),
);

it('instances are ordered as by the obvious implementation after any additions and deletions', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 25 }), (commands) => {
      const subject = new Subject();
      for (const step of commands) {
        if (step.kind === 'add') subject.add(step.keys);
        else if (step.kind === 'add sorted') subject.add([...step.keys].sort((a, b) => a - b));
        else if (step.kind === 'delete') subject.deleteEvery(step.step);
        else subject.check(step.from, step.to);
      }
      subject.check(-Infinity, Infinity);
    }),
    { numRuns: 150 },
  );
});
