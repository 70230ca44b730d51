import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventStream } from '../../../../sidecar/purge/run/purge-run.js';

const NEVER = new AbortController().signal;

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

async function eventsOf<Event>(stream: AsyncIterable<Event>): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('eventStream', () => {
  it('eventStream hands out every event in order, whenever it was emitted', async () => {
    const stream = eventStream<number>(NEVER, async (emit) => {
      emit(1);
      emit(2);
      await turn();
      emit(3);
      await turn();
      emit(4);
    });
    assert.deepEqual(await eventsOf(stream), [1, 2, 3, 4]);
  });

  it('eventStream ends without an event when the task has none', async () => {
    assert.deepEqual(await eventsOf(eventStream(NEVER, async () => {})), []);
  });

  it('eventStream does not start the task before it is read', async () => {
    let started = false;
    const stream = eventStream(NEVER, async () => {
      started = true;
    });
    await turn();
    assert.equal(started, false);
    await stream.next();
    assert.equal(started, true);
  });

  it("eventStream throws the task's error after its last events", async () => {
    const stream = eventStream<string>(NEVER, async (emit) => {
      emit('first');
      await turn();
      emit('last');
      throw new Error('broken');
    });
    const seen: string[] = [];
    await assert.rejects(
      async () => {
        for await (const event of stream) seen.push(event);
      },
      { message: 'broken' },
    );
    assert.deepEqual(seen, ['first', 'last']);
  });

  it('eventStream aborts the task with the reason of the given signal, also when that came first', async () => {
    const caller = new AbortController();
    const reasons: unknown[] = [];
    const stream = eventStream<string>(caller.signal, async (emit, signal) => {
      emit('started');
      await aborted(signal);
      reasons.push(signal.reason);
    });
    await stream.next();
    caller.abort('gone');
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
    await eventsOf(
      eventStream(AbortSignal.abort('early'), async (_emit, signal) => {
        reasons.push(signal.reason);
      }),
    );
    assert.deepEqual(reasons, ['gone', 'early']);
  });

  it('eventStream aborts the task when the reader stops, and waits until it has ended', async () => {
    let isOver = false;
    const stream = eventStream<number>(NEVER, async (emit, signal) => {
      emit(1);
      await aborted(signal);
      await turn();
      isOver = true;
      throw new Error('nobody listens any more');
    });
    for await (const event of stream) {
      assert.equal(event, 1);
      break;
    }
    assert.equal(isOver, true);
  });

  it('eventStream keeps events that are emitted while the reader is busy', async () => {
    const stream = eventStream<number>(NEVER, async (emit) => {
      for (let index = 0; index < 100; index++) {
        emit(index);
        if (index % 7 === 0) await turn();
      }
    });
    const seen: number[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (event % 11 === 0) await turn();
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_, index) => index),
    );
  });

  it("eventStream throws the task's error to a reader that is still busy with its events", async () => {
    const stream = eventStream<number>(NEVER, async (emit) => {
      emit(1);
      throw new Error('broken');
    });
    assert.deepEqual(await stream.next(), { done: false, value: 1 });
    // Nobody waits for the task now: the process must not end for a rejection that is still to be read.
    for (let turns = 0; turns < 3; turns += 1) await turn();
    await assert.rejects(stream.next(), { message: 'broken' });
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  });

  it('eventStream hands out what the task emitted last, also when the reader was busy when it ended', async () => {
    const stream = eventStream<number>(NEVER, async (emit) => {
      emit(1);
      await turn();
      emit(2);
      emit(3);
    });
    const seen: number[] = [];
    for await (const event of stream) {
      seen.push(event);
      for (let turns = 0; turns < 3; turns += 1) await turn();
    }
    assert.deepEqual(seen, [1, 2, 3]);
  });

  it('eventStream allows as many listeners on its signal as the task has requests, without a warning', async (t) => {
    const warn = t.mock.method(process, 'emitWarning', () => {});
    await eventsOf(
      eventStream(NEVER, async (_emit, signal) => {
        for (let index = 0; index < 200; index += 1) signal.addEventListener('abort', () => index);
      }),
    );
    assert.equal(warn.mock.callCount(), 0);
  });

  it('eventStream leaves no listener on the signal once it has ended', async (t) => {
    const { signal } = new AbortController();
    const add = t.mock.method(signal, 'addEventListener');
    const remove = t.mock.method(signal, 'removeEventListener');
    await eventsOf(eventStream(signal, async () => {}));
    assert.deepEqual(
      remove.mock.calls.map(({ arguments: [, listener] }) => listener),
      add.mock.calls.map(({ arguments: [, listener] }) => listener),
    );
    assert.equal(add.mock.callCount(), 1);
  });
});
