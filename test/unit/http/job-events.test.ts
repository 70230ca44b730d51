import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventsOf } from '../../../sidecar/http/api/job-events.js';

it('a stream of events sends a sign of life every fifteen seconds, and leaves no timer', async (t) => {
  const timers = new Map<unknown, { readonly ms: unknown; readonly fire: () => void }>();
  t.mock.method(globalThis, 'setTimeout', (fire: () => void, ms: number) => {
    const handle = {};
    timers.set(handle, { fire, ms });
    return handle;
  });
  t.mock.method(globalThis, 'clearTimeout', (handle: unknown) => timers.delete(handle));
  const news: { readonly tell: (record: object) => void; readonly fail: (error: Error) => void }[] = [];
  const records: object = {
    next: () =>
      new Promise((resolve, fail) => {
        news.push({ tell: (value) => resolve({ done: false, value }), fail });
      }),
  };
  const parts = eventsOf(records as Parameters<typeof eventsOf>[0], undefined);
  for (let beat = 0; beat < 2; beat += 1) {
    const part = parts.next();
    const [timer, ...others] = timers.values();
    assert.deepEqual([timer?.ms, others], [15_000, []]);
    timer?.fire();
    assert.equal((await part).value, ': still there\n\n');
    assert.equal(timers.size, 0);
  }
  // The record that was awaited before is still the next one.
  const told = parts.next();
  assert.equal(news.length, 1);
  news[0]?.tell({ id: 'p-1', state: 'succeeded' });
  assert.match(String((await told).value), /"succeeded"/);
  const failed = parts.next();
  news[1]?.fail(new Error('The store is away.'));
  await assert.rejects(failed, /away/);
  assert.equal(timers.size, 0);
});

it('the event of a record is made once for all streams', async () => {
  const record = { id: 'p-1', state: 'succeeded' };
  let made = 0;
  const shown = (one: object): object => {
    made += 1;
    return one;
  };
  async function* records() {
    yield await Promise.resolve(record);
  }
  const sent = [];
  for (const seen of [undefined, undefined, 'another'])
    for await (const event of eventsOf(records(), seen, shown)) sent.push(String(event));
  assert.equal(new Set(sent).size, 1);
  assert.equal(sent.length, 3);
  assert.equal(made, 1);
});
