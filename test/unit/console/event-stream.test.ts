import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { eventsOf } from '../../../console/api/event-stream.js';

/** A stream of bytes in given pieces, which then ends, or goes on without a sign. */
function streamOf(pieces: readonly Uint8Array<ArrayBuffer>[], ends = true) {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      if (ends) controller.close();
    },
  });
}

async function read(stream: ReturnType<typeof streamOf>, silentMs = 60_000): Promise<readonly string[]> {
  const events: string[] = [];
  for await (const data of eventsOf(stream, silentMs)) events.push(data);
  return events;
}

describe('the events of a purge', () => {
  const text = `id: 1\ndata: {"query":"Zähler ⚡"}\n\n: still there\n\nid: 2\ndata: {"a":1}\n\ndata: cut off`;
  const bytes = new TextEncoder().encode(text);

  it('events are the same however their bytes are cut, and a sign of life and a last half are none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
        assert.deepEqual(await read(streamOf(pieces)), ['{"query":"Zähler ⚡"}', '{"a":1}']);
      }),
    );
  });

  it('a stream that gives no sign any more fails, after what it had was read', async () => {
    const events: string[] = [];
    const dead = (async () => {
      for await (const data of eventsOf(streamOf([bytes], false), 5)) events.push(data);
    })();
    await assert.rejects(dead, /no sign/);
    assert.equal(events.length, 2);
  });
});
