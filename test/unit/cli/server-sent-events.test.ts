import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readEvents, type ServerSentEvent } from '../../../sidecar/cli/server-sent-events.js';

async function eventsOf(pieces: readonly string[]): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(inPieces(pieces))) events.push(event);
  return events;
}

async function* inPieces(pieces: readonly string[]): AsyncGenerator<string> {
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

  it('a server-sent event that does not end is refused', async () => {
    await assert.rejects(eventsOf(Array.from({ length: 6 }, () => 'x'.repeat(1_000_000))), RangeError);
  });
});
