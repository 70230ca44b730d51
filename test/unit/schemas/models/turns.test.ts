import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Turns } from '../../../../sidecar/schemas/models/turns.js';
import { Gate } from '../../../support/recording-broker.js';
import { WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';

describe('turns at one thing', () => {
  it('work on one thing is done one after the other, in its order, also behind a failure', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const work = (name: string, fails = false) =>
      turns.take('a', async () => {
        log.push(`${name} begins`);
        await turn();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([work('1'), work('2', true), work('3')]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(log, ['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
  });

  it('work on one thing does not wait for work on another one', async () => {
    const turns = new Turns();
    const gate = new Gate();
    const held = turns.take('a', () => gate.passed);
    assert.equal(await turns.take('b', () => Promise.resolve('done')), 'done');
    gate.open();
    await held;
  });

  it('nothing is kept of a thing once all work on it is done, also where some of it failed', async () => {
    const turns = new Turns();
    const gate = new Gate();
    const done = ['a', 'a', 'b'].map((key) => turns.take(key, () => gate.passed));
    const failed = turns.take('c', () => Promise.reject(new Error('failed')));
    assert.equal(turns.things, 3);
    await assert.rejects(failed, /failed/);
    assert.equal(turns.things, 2);
    gate.open();
    await Promise.all(done);
    assert.equal(turns.things, 0);
  });

  it('work beyond a hundred that wait is refused, and taken again when they are done', async () => {
    const turns = new Turns();
    const gate = new Gate();
    const waiting = Array.from({ length: 101 }, () => turns.take('a', () => gate.passed));
    await assert.rejects(
      turns.take('a', () => gate.passed),
      WorkersBusyError,
    );
    gate.open();
    await Promise.all(waiting);
    assert.equal(await turns.take('a', () => Promise.resolve('done')), 'done');
  });
});
