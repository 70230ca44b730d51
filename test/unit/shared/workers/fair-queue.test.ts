import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { FairQueue, type Batch } from '../../../../sidecar/shared/workers/fair-queue.js';

const KEYS = ['a', 'b', 'c', 'd'] as const;
const QUARANTINE_MS = 10;

/** Operations on a queue; numbers choose among the existing tasks. */
type Step =
  | { readonly kind: 'offer'; readonly queueKey: string }
  | { readonly kind: 'quarantine'; readonly queueKey: string }
  | { readonly kind: 'take' }
  | { readonly kind: 'release' | 'again' | 'withdraw'; readonly pick: number }
  | { readonly kind: 'pass'; readonly ms: number };

const queueKey = fc.constantFrom(...KEYS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('offer' as const), queueKey }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'take' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('release', 'again', 'withdraw'), pick: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('quarantine' as const), queueKey }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(8) }) },
);

interface Sizes {
  readonly workers: number;
  readonly maxWaiting: number;
  readonly batch: number;
}
const sizes: fc.Arbitrary<Sizes> = fc.record({
  workers: fc.integer({ min: 1, max: 4 }),
  maxWaiting: fc.nat(12),
  batch: fc.integer({ min: 1, max: 3 }),
});

/** A queue, and the simplest possible model of its content. */
class Ledger {
  readonly queue: FairQueue<number>;
  readonly running: Batch<number>[] = [];
  readonly waiting: { readonly queueKey: string; readonly task: number; readonly isAgain: boolean }[] = [];
  readonly quarantines = new Map<string, number>();
  now = 0;
  last = 0;

  constructor(readonly sizes: Sizes) {
    const { workers, maxWaiting, batch } = sizes;
    this.queue = new FairQueue({ workers, maxWaiting, batchSize: () => batch });
  }

  isQuarantined(name: string): boolean {
    return (this.quarantines.get(name) ?? -Infinity) > this.now;
  }

  held(isCounted: (name: string) => boolean): number {
    return this.running.filter((batch) => isCounted(batch.queueKey)).length;
  }

  waitingIn(isCounted: (name: string) => boolean) {
    return this.waiting.filter((one) => isCounted(one.queueKey));
  }

  mayRun(name: string): boolean {
    const isFree = this.held((other) => other === name) < Math.max(1, this.sizes.workers - 1);
    return isFree && !(this.isQuarantined(name) && this.held((other) => this.isQuarantined(other)) > 0);
  }

  do(next: Step): void {
    if (next.kind === 'offer') this.#offer(next.queueKey);
    else if (next.kind === 'take') this.#take();
    else if (next.kind === 'pass') this.now += next.ms;
    else if (next.kind === 'quarantine') {
      this.quarantines.set(next.queueKey, this.now + QUARANTINE_MS);
      this.queue.quarantine(next.queueKey, this.now, this.now + QUARANTINE_MS);
    } else if (next.kind === 'withdraw') {
      const [one] = this.waiting.splice(next.pick % Math.max(1, this.waiting.length), 1);
      if (one !== undefined) assert.ok(this.queue.withdraw(one.queueKey, one.task));
      assert.equal(this.queue.withdraw('a', -1), false);
    } else this.#release(next.pick, next.kind === 'again');
    assert.equal(this.queue.waiting, this.waiting.length);
  }

  #offer(name: string): void {
    const task = (this.last += 1);
    const { workers, maxWaiting } = this.sizes;
    const share = Math.max(1, Math.floor(maxWaiting / 2));
    const all = this.waiting.length + this.running.length < workers + maxWaiting;
    const isOwn = (other: string) => other === name;
    const own = this.waitingIn(isOwn).length + this.held(isOwn) < share + Math.max(1, workers - 1);
    const isQuarantined = (other: string) => this.isQuarantined(other);
    const quarantines =
      !isQuarantined(name) || this.waitingIn(isQuarantined).length + this.held(isQuarantined) < share + 1;
    assert.equal(this.queue.offer(name, task, this.now), all && own && quarantines);
    if (all && own && quarantines) this.waiting.push({ queueKey: name, task, isAgain: false });
  }

  #take(): void {
    if (this.running.length === this.sizes.workers) return;
    const batch = this.queue.take(this.now);
    if (batch === undefined) {
      assert.ok(
        this.waiting.every((one) => !this.mayRun(one.queueKey)),
        'no waiting task may run',
      );
      return;
    }
    assert.ok(this.mayRun(batch.queueKey));
    const first = this.waitingIn((name) => name === batch.queueKey).slice(0, batch.tasks.length);
    assert.deepEqual(
      batch.tasks,
      first.map(({ task }) => task),
      'first come, first served',
    );
    assert.ok(batch.tasks.length >= 1);
    if (this.isQuarantined(batch.queueKey) || first.some(({ isAgain }) => isAgain))
      assert.equal(batch.tasks.length, 1);
    assert.ok(batch.tasks.length <= this.sizes.batch);
    for (const one of first) this.waiting.splice(this.waiting.indexOf(one), 1);
    this.running.push(batch);
  }

  #release(pick: number, isAgain: boolean): void {
    const [batch] = this.running.splice(pick % Math.max(1, this.running.length), 1);
    if (batch === undefined) return;
    const again = isAgain ? batch.tasks : [];
    this.queue.release(batch, again);
    this.waiting.unshift(...again.map((task) => ({ queueKey: batch.queueKey, task, isAgain: true })));
  }
}

it('the fair queue keeps order and limits, loses no task, and never leaves a runnable task waiting', () => {
  fc.assert(
    fc.property(sizes, fc.array(step, { maxLength: 80 }), (some, steps) => {
      const ledger = new Ledger(some);
      for (const next of steps) ledger.do(next);
      const rest = ledger.waiting.map(({ task }) => task);
      assert.deepEqual([...ledger.queue.drain()].sort(byNumber), rest.sort(byNumber));
      assert.equal(ledger.queue.waiting, 0);
      assert.equal(ledger.queue.take(ledger.now), undefined);
    }),
    { numRuns: 1000 },
  );
});

it('the fair queue gives every runnable queue key a batch before any key gets a second one', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 3 }), (waiting, batch) => {
      const queue = new FairQueue<string>({ workers: 1, maxWaiting: 1000, batchSize: () => batch });
      for (const [index, count] of waiting.entries())
        for (let n = 0; n < count; n += 1) assert.ok(queue.offer(`${index}`, `${index}:${n}`, 0));
      const turns: string[] = [];
      for (let taken = queue.take(0); taken !== undefined; taken = queue.take(0)) {
        turns.push(taken.queueKey);
        queue.release(taken);
      }
      const round = waiting.map((_, index) => `${index}`);
      assert.deepEqual(turns.slice(0, round.length), round);
    }),
  );
});

it('the fair queue keeps a worker and a place for other queue keys, however much one key sends', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 2, max: 40 }), (workers, maxWaiting) => {
      const queue = new FairQueue<string>({ workers, maxWaiting, batchSize: () => 1 });
      for (let n = 0; n < 100; n += 1) queue.offer('flood', `${n}`, 0);
      while (queue.take(0) !== undefined);
      assert.ok(queue.offer('other', 'x', 0));
      assert.deepEqual(queue.take(0), { queueKey: 'other', tasks: ['x'] });
    }),
  );
});

it('the fair queue removes only tasks at the head of each queue key that have waited too long', () => {
  const queue = new FairQueue<number>({ workers: 1, maxWaiting: 20, batchSize: () => 1 });
  for (const task of [1, 2, 5]) assert.ok(queue.offer('a', task, 0));
  for (const task of [3, 6]) assert.ok(queue.offer('b', task, 0));
  assert.deepEqual([...queue.expired((task) => task < 4)].sort(), [1, 2, 3]);
  assert.equal(queue.waiting, 2);
  assert.deepEqual(queue.take(0)?.tasks, [5]);
  assert.deepEqual(
    queue.expired((task) => task === 6),
    [6],
  );
  assert.equal(queue.waiting, 0);
  assert.deepEqual(
    queue.expired(() => true),
    [],
  );
});

it('the fair queue reserves half of the places for others while queue keys are quarantined', () => {
  const queue = new FairQueue<number>({ workers: 2, maxWaiting: 8, batchSize: () => 1 });
  const names = Array.from({ length: 20 }, (_, index) => `${index}`);
  for (const name of names) queue.quarantine(name, 0, 10);
  assert.equal(names.filter((name, index) => queue.offer(name, index, 0)).length, 5);
  for (const task of [1, 2, 3, 4, 5]) assert.ok(queue.offer(`good ${task}`, task, 0));
  assert.equal(queue.offer('good', 6, 0), false);
});

it('the fair queue gives quarantined queue keys one worker together, until the quarantine ends', () => {
  const queue = new FairQueue<string>({ workers: 3, maxWaiting: 40, batchSize: () => 1 });
  for (const name of KEYS) {
    queue.quarantine(name, 0, 10);
    for (let n = 0; n < 3; n += 1) assert.ok(queue.offer(name, `${name}${n}`, 0));
  }
  const first = queue.take(0);
  assert.ok(first !== undefined);
  assert.equal(queue.take(9), undefined);
  assert.ok(queue.offer('good', 'g', 9));
  assert.equal(queue.take(9)?.queueKey, 'good');
  assert.equal(queue.take(10)?.queueKey, 'b');
  queue.quarantine('e', 10, 20);
  queue.release(first);
  assert.equal(queue.take(10)?.queueKey, 'c');
});

function byNumber(one: number, other: number): number {
  return one - other;
}
