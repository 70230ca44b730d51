import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { PurgeFailedError } from '../../sidecar/jobs/errors.js';
import { PurgeStoppedError } from '../../sidecar/purge/index.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import { closeOpened, NEVER, order, policy, purgesOf, turns, unanswered } from '../support/opened-purges.js';

afterEach(closeOpened);

it('a gateway that stops accepts no new purges, interrupts those whose callers wait, and starts no more runs', async () => {
  const { purges, state } = purgesOf();
  state.answer = unanswered;
  const ended = purges.service.run(order(), NEVER).catch((error: unknown) => error);
  await turns();
  purges.start();
  purges.stop();
  const error = await ended;
  assert.ok(error instanceof PurgeFailedError);
  assert.equal(error.record.state, 'interrupted');
  await assert.rejects(purges.service.submit(order()), PurgeStoppedError);
  await assert.rejects(purges.service.run(order(), NEVER), PurgeStoppedError);
  state.policies = [policy('late')];
  await purges.close();
  assert.equal(state.policies.length, 1);
});

it('a run that is being started ends before the records are closed', async () => {
  const { purges, state } = purgesOf();
  state.policies = [policy('a')];
  const order: string[] = [];
  let begin = () => {};
  const isBegun = new Promise<void>((resolve) => (begin = resolve));
  purges.retention.runScheduled = async () => {
    await isBegun;
    order.push('run');
    return {} as never;
  };
  const close = purges.jobs.close.bind(purges.jobs);
  purges.jobs.close = async () => {
    order.push('closed');
    await close();
  };
  purges.start();
  await turns();
  const closed = purges.close();
  await turns();
  assert.deepEqual(order, []);
  begin();
  await closed;
  assert.deepEqual(order, ['run', 'closed']);
});

for (const how of ['stop', 'close'] as const) {
  it(`no timer of the purges of a gateway continues after ${how}`, async (t) => {
    const signals: (AbortSignal | undefined)[] = [];
    t.mock.method(systemClock, 'sleep', async (_ms: number, signal?: AbortSignal) => {
      signals.push(signal);
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('ended')), { once: true }),
      );
    });
    const { purges } = purgesOf({ DATABASE_URL: 'postgres://db/x' });
    purges.start();
    await turns();
    assert.ok(signals.length > 0, 'schedules are looked at');
    assert.ok(signals.every((signal) => signal?.aborted === false));
    const ended = purges[how]();
    await turns();
    assert.deepEqual(
      signals.map((signal) => signal?.aborted),
      signals.map(() => true),
    );
    await ended;
  });
}
