import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readEvents, type ServerSentEvent } from '../../../sidecar/cli/server-sent-events.js';

async function eventsOf(pieces: Iterable<string>, maxLength?: number): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(inPieces(pieces), maxLength)) events.push(event);
  return events;
}

async function* inPieces(pieces: Iterable<string>): AsyncGenerator<string> {
  yield* pieces;
}

const STREAM =
  ': heartbeat\n\nid: 1\ndata: {"a":1}\n\nevent: x\r\ndata:two\r\ndata: lines\r\nid: 2\r\n\r\ndata: cut off';

describe('server-sent events', () => {
  it('server-sent events give data with the last id, without heartbeats and an unfinished event', async () => {
    assert.deepEqual(await eventsOf([STREAM]), [
      { id: '1', data: '{"a":1}' },
      { id: '2', data: 'two\nlines' },
    ]);
  });

  it('server-sent events are the same however the stream is cut into pieces', async () => {
    const whole = await eventsOf([STREAM]);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(STREAM.length)), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
        const pieces = at.slice(1).map((end, n) => STREAM.slice(at[n], end));
        assert.deepEqual(await eventsOf(pieces), whole);
      }),
    );
  });

  it('a server-sent event that does not end is refused, whatever its lines are', async () => {
    for (const line of ['x', ':\n', 'x\n', 'x: \n', 'id: 1\n', 'data: \n', 'retry: 5\r\n'])
      await assert.rejects(eventsOf(Array<string>(1001).fill(line), 1000), RangeError, line);
  });

  it('a server-sent event has four million characters at most', async () => {
    const most = 4 * 1024 * 1024 - 'data: a'.length;
    assert.equal((await eventsOf([`:${'x'.repeat(most - 1)}\ndata: a\n\n`])).length, 1);
    await assert.rejects(eventsOf([`:${'x'.repeat(most)}\ndata: a\n\n`]), RangeError);
  });

  it('a server-sent event has as many characters as the limit, comments and unknown fields included, and not one more', async () => {
    const lines = ['data: a', ': comment', 'other: field', 'id: 7', 'nameless'];
    const event = lines.join('\n');
    const most = lines.join('').length;
    // The limit is that of an event, however it is cut.
    for (const pieces of [[`${event}\n\n`], [event, '\n\n'], Array.from(`${event}\n\n`)]) {
      assert.deepEqual(await eventsOf(pieces, most), [{ id: '7', data: 'a' }]);
      await assert.rejects(eventsOf(pieces, most - 1), RangeError);
    }
  });

  it('what counts towards the limit of a server-sent event is counted anew for the next one', async () => {
    const event = 'data: a\n\n';
    assert.equal((await eventsOf([event, event, event], 7)).length, 3);
    assert.equal((await eventsOf([event + event + event], 7)).length, 3);
  });
});
