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

async function read(stream: ReturnType<typeof streamOf>, maxLength?: number): Promise<readonly string[]> {
  const events: string[] = [];
  for await (const data of eventsOf(stream, 60_000, maxLength)) events.push(data);
  return events;
}

const inPieces = (pieces: readonly string[]) => {
  const encoder = new TextEncoder();
  return streamOf(pieces.map((piece) => encoder.encode(piece)));
};

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

  it('each sign of a stream gives it its time anew', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const writer = writable.getWriter();
    const events = eventsOf(readable, 1000);
    for (let sign = 0; sign < 3; sign += 1) {
      const next = events.next();
      t.mock.timers.tick(999);
      void writer.write(new TextEncoder().encode(`data: ${sign}\n\n`));
      assert.deepEqual(await next, { done: false, value: String(sign) });
    }
    const next = events.next();
    t.mock.timers.tick(1000);
    await assert.rejects(next, /no sign/);
    await assert.rejects(writer.closed);
  });

  it('a stream that is not read to its end is let go', async () => {
    const reasons: unknown[] = [];
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\ndata: 2\n\n')),
      cancel: (reason) => void reasons.push(reason),
    });
    for await (const data of eventsOf(stream, 60_000)) {
      assert.equal(data, '1');
      break;
    }
    assert.equal(reasons.length, 1);
  });

  it('the lines of the data of an event are lines again, and its other lines are none', async () => {
    const text = ': comment\nevent: x\ndata: {\nid: 5\ndata:}\nretry: 1\n\n';
    assert.deepEqual(await read(inPieces([text])), ['{\n}']);
  });

  it('an event that does not end is refused, whatever its lines are', async () => {
    for (const line of ['x', ':\n', 'x\n', 'id: 1\n', 'data: \n'])
      await assert.rejects(read(inPieces(Array<string>(1001).fill(line)), 1000), RangeError, line);
  });

  it('an event has four million characters at most', async () => {
    const most = 4 * 1024 * 1024 - 'data: a\n'.length;
    assert.deepEqual(await read(inPieces([`data: a\n:${'x'.repeat(most - 1)}\n\n`])), ['a']);
    await assert.rejects(read(inPieces([`data: a\n:${'x'.repeat(most)}\n\n`])), RangeError);
  });

  it('an event has as many characters as the limit, comments and unknown fields included, and not one more', async () => {
    const event = 'data: a\n: comment\nother: field\nid: 7\nnameless';
    for (const pieces of [[`${event}\n\n`], [event, '\n\n'], Array.from(`${event}\n\n`)]) {
      assert.deepEqual(await read(inPieces(pieces), event.length), ['a']);
      await assert.rejects(read(inPieces(pieces), event.length - 1), RangeError);
    }
    assert.equal((await read(inPieces([`${event}\n\n`.repeat(3)]), event.length)).length, 3);
  });
});
