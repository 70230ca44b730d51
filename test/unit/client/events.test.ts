import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readEvents, type ServerSentEvent } from '../../../sidecar/client/events.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** A stream of bytes in the given pieces, which then ends or stays silent. */
function streamOf(pieces: readonly Bytes[], ends = true) {
  return new ReadableStream<Bytes>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      if (ends) controller.close();
    },
  });
}

async function read(stream: ReadableStream<Bytes>, maxLength?: number): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(stream, 60_000, maxLength)) events.push(event);
  return events;
}

const encoder = new TextEncoder();
const inPieces = (...pieces: readonly string[]) => streamOf(pieces.map((piece) => encoder.encode(piece)));

const STREAM =
  ': heartbeat\n\nid: 1\ndata: {"a":"Zähler ⚡"}\n\nevent: x\r\ndata:two\r\ndata: lines\r\nid: 2\r\n\r\ndata: 3\n\ndata: cut off';

it('events do not depend on how their bytes are split; they have the last id, and heartbeats and unfinished events are skipped', async () => {
  const bytes = encoder.encode(STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
      assert.deepEqual(await read(streamOf(pieces)), [
        { id: '1', data: '{"a":"Zähler ⚡"}' },
        { id: '2', data: 'two\nlines' },
        { id: '2', data: '3' },
      ]);
    }),
  );
});

it('an event that does not end is refused, whatever its lines are', async () => {
  for (const line of ['x', ':\n', 'x\n', 'x: \n', 'id: 1\n', 'data: \n', 'retry: 5\r\n'])
    await assert.rejects(read(inPieces(...Array<string>(1001).fill(line)), 1000), RangeError, line);
});

it('an event has four million characters at most by default', async () => {
  const most = 4 * 1024 * 1024 - 'data: a'.length;
  assert.equal((await read(inPieces(`:${'x'.repeat(most - 1)}\ndata: a\n\n`))).length, 1);
  await assert.rejects(read(inPieces(`:${'x'.repeat(most)}\ndata: a\n\n`)), RangeError);
});

it('an event may have as many characters as the limit, comments and unknown fields included', async () => {
  const lines = ['data: a', ': comment', 'other: field', 'id: 7', 'nameless'];
  const [event, most] = [lines.join('\n'), lines.join('').length];
  for (const pieces of [[`${event}\n\n`], [event, '\n\n'], Array.from(`${event}\n\n`)]) {
    assert.deepEqual(await read(inPieces(...pieces), most), [{ id: '7', data: 'a' }]);
    await assert.rejects(read(inPieces(...pieces), most - 1), RangeError);
  }
  // Counting starts again for the next event.
  assert.equal((await read(inPieces(`${event}\n\n`.repeat(3)), most)).length, 3);
});

it('a stream that sends nothing for the whole time limit fails after its events were read', async () => {
  const events: string[] = [];
  const dead = (async () => {
    for await (const { data } of readEvents(streamOf([encoder.encode(STREAM)], false), 5)) events.push(data);
  })();
  await assert.rejects(dead, /sends nothing/);
  assert.equal(events.length, 3);
});

it('each event restarts the time limit of a stream', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { readable, writable } = new TransformStream<Bytes, Bytes>();
  const writer = writable.getWriter();
  const events = readEvents(readable, 1000);
  for (let sign = 0; sign < 3; sign += 1) {
    const next = events.next();
    t.mock.timers.tick(999);
    void writer.write(encoder.encode(`data: ${sign}\n\n`));
    assert.equal((await next).value?.data, String(sign));
  }
  const next = events.next();
  t.mock.timers.tick(1000);
  await assert.rejects(next, /sends nothing/);
  await assert.rejects(writer.closed);
});

it('a stream that is not read to its end is cancelled', async () => {
  let isCancelled = false;
  const stream = new ReadableStream<Bytes>({
    start: (controller) => controller.enqueue(encoder.encode('data: 1\n\ndata: 2\n\n')),
    cancel: () => void (isCancelled = true),
  });
  for await (const { data } of readEvents(stream)) {
    assert.equal(data, '1');
    break;
  }
  assert.ok(isCancelled);
});
