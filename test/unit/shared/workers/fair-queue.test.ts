import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairQueue, type Turn } from '../../../../sidecar/shared/workers/fair-queue.js';

const LANES = ['a', 'b', 'c', 'd'] as const;
const SUSPICION = 10;

/** What may happen to a queue; numbers choose among what is there. */
type Step =
  | { readonly kind: 'offer'; readonly lane: string }
  | { readonly kind: 'suspect'; readonly lane: string }
  | { readonly kind: 'take' }
  | { readonly kind: 'release' | 'again' | 'withdraw'; readonly pick: number }
  | { readonly kind: 'pass'; readonly ms: number };

const lane = fc.constantFrom(...LANES);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('offer' as const), lane }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'take' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('release', 'again', 'withdraw'), pick: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('suspect' as const), lane }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(8) }) },
);

interface Sizes {
  readonly workers: number;
  readonly waitingMax: number;
  readonly batch: number;
}
const sizes: fc.Arbitrary<Sizes> = fc.record({
  workers: fc.integer({ min: 1, max: 4 }),
  waitingMax: fc.nat(12),
  batch: fc.integer({ min: 1, max: 3 }),
});

/** A queue beside the plainest account of what it holds. */
class Ledger {
  readonly queue: FairQueue<number>;
  readonly running: Turn<number>[] = [];
  readonly waiting: { readonly lane: string; readonly task: number; readonly isAgain: boolean }[] = [];
  readonly suspects = new Map<string, number>();
  now = 0;
  last = 0;

  constructor(readonly sizes: Sizes) {
    const { workers, waitingMax, batch } = sizes;
    this.queue = new FairQueue({ workers, waitingMax, batchSize: () => batch });
  }

  isSuspect(name: string): boolean {
    return (this.suspects.get(name) ?? -Infinity) > this.now;
  }

  held(isCounted: (name: string) => boolean): number {
    return this.running.filter((turn) => isCounted(turn.lane)).length;
  }

  waitingIn(isCounted: (name: string) => boolean) {
    return this.waiting.filter((one) => isCounted(one.lane));
  }

  mayRun(name: string): boolean {
    const isFree = this.held((other) => other === name) < Math.max(1, this.sizes.workers - 1);
    return isFree && !(this.isSuspect(name) && this.held((other) => this.isSuspect(other)) > 0);
  }

  do(next: Step): void {
    if (next.kind === 'offer') this.#offer(next.lane);
    else if (next.kind === 'take') this.#take();
    else if (next.kind === 'pass') this.now += next.ms;
    else if (next.kind === 'suspect') {
      this.suspects.set(next.lane, this.now + SUSPICION);
      this.queue.suspect(next.lane, this.now, this.now + SUSPICION);
    } else if (next.kind === 'withdraw') {
      const [one] = this.waiting.splice(next.pick % Math.max(1, this.waiting.length), 1);
      if (one !== undefined) assert.ok(this.queue.withdraw(one.lane, one.task));
      assert.equal(this.queue.withdraw('a', -1), false);
    } else this.#release(next.pick, next.kind === 'again');
    assert.equal(this.queue.waiting, this.waiting.length);
  }

  #offer(name: string): void {
    const task = (this.last += 1);
    const { workers, waitingMax } = this.sizes;
    const share = Math.max(1, Math.floor(waitingMax / 2));
    const all = this.waiting.length + this.running.length < workers + waitingMax;
    const isOwn = (other: string) => other === name;
    const own = this.waitingIn(isOwn).length + this.held(isOwn) < share + Math.max(1, workers - 1);
    const isSuspect = (other: string) => this.isSuspect(other);
    const suspects = !isSuspect(name) || this.waitingIn(isSuspect).length + this.held(isSuspect) < share + 1;
    assert.equal(this.queue.offer(name, task, this.now), all && own && suspects);
    if (all && own && suspects) this.waiting.push({ lane: name, task, isAgain: false });
  }

  #take(): void {
    if (this.running.length === this.sizes.workers) return;
    const turn = this.queue.take(this.now);
    if (turn === undefined) {
      assert.ok(
        this.waiting.every((one) => !this.mayRun(one.lane)),
        'nobody waits who may run',
      );
      return;
    }
    assert.ok(this.mayRun(turn.lane));
    const first = this.waitingIn((name) => name === turn.lane).slice(0, turn.tasks.length);
    assert.deepEqual(
      turn.tasks,
      first.map(({ task }) => task),
      'first come, first served',
    );
    assert.ok(turn.tasks.length >= 1);
    if (this.isSuspect(turn.lane) || first.some(({ isAgain }) => isAgain)) assert.equal(turn.tasks.length, 1);
    assert.ok(turn.tasks.length <= this.sizes.batch);
    for (const one of first) this.waiting.splice(this.waiting.indexOf(one), 1);
    this.running.push(turn);
  }

  #release(pick: number, isAgain: boolean): void {
    const [turn] = this.running.splice(pick % Math.max(1, this.running.length), 1);
    if (turn === undefined) return;
    const again = isAgain ? turn.tasks : [];
    this.queue.release(turn, again);
    this.waiting.unshift(...again.map((task) => ({ lane: turn.lane, task, isAgain: true })));
  }
}

describe('the fair queue', () => {
  it('keeps order and limits, loses nothing, and lets nobody wait who may run', () => {
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

  it('gives every lane that may run a turn, before any other has a second one', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 3 }), (waiting, batch) => {
        const queue = new FairQueue<string>({ workers: 1, waitingMax: 1000, batchSize: () => batch });
        for (const [index, count] of waiting.entries())
          for (let n = 0; n < count; n += 1) assert.ok(queue.offer(`${index}`, `${index}:${n}`, 0));
        const turns: string[] = [];
        for (let turn = queue.take(0); turn !== undefined; turn = queue.take(0)) {
          turns.push(turn.lane);
          queue.release(turn);
        }
        const round = waiting.map((_, index) => `${index}`);
        assert.deepEqual(turns.slice(0, round.length), round);
      }),
    );
  });

  it('leaves a worker and half of the room to others, whatever one lane sends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 2, max: 40 }), (workers, waitingMax) => {
        const queue = new FairQueue<string>({ workers, waitingMax, batchSize: () => 1 });
        for (let n = 0; n < 100; n += 1) queue.offer('flood', `${n}`, 0);
        while (queue.take(0) !== undefined);
        assert.ok(queue.offer('other', 'x', 0));
        assert.deepEqual(queue.take(0), { lane: 'other', tasks: ['x'] });
      }),
    );
  });

  it('gives out what has waited for too long, at the head of its lane, and no more', () => {
    const queue = new FairQueue<number>({ workers: 1, waitingMax: 20, batchSize: () => 1 });
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

  it('leaves half of the room to others while lanes are under suspicion', () => {
    const queue = new FairQueue<number>({ workers: 2, waitingMax: 8, batchSize: () => 1 });
    const names = Array.from({ length: 20 }, (_, index) => `${index}`);
    for (const name of names) queue.suspect(name, 0, 10);
    assert.equal(names.filter((name, index) => queue.offer(name, index, 0)).length, 5);
    for (const task of [1, 2, 3, 4, 5]) assert.ok(queue.offer(`good ${task}`, task, 0));
    assert.equal(queue.offer('good', 6, 0), false);
  });

  it('leaves all workers but one to others while lanes are under suspicion, and forgives in time', () => {
    const queue = new FairQueue<string>({ workers: 3, waitingMax: 40, batchSize: () => 1 });
    for (const name of LANES) {
      queue.suspect(name, 0, 10);
      for (let n = 0; n < 3; n += 1) assert.ok(queue.offer(name, `${name}${n}`, 0));
    }
    const first = queue.take(0);
    assert.ok(first !== undefined);
    assert.equal(queue.take(9), undefined);
    assert.ok(queue.offer('good', 'g', 9));
    assert.equal(queue.take(9)?.lane, 'good');
    assert.equal(queue.take(10)?.lane, 'b');
    queue.suspect('e', 10, 20);
    queue.release(first);
    assert.equal(queue.take(10)?.lane, 'c');
  });
});

function byNumber(one: number, other: number): number {
  return one - other;
}
