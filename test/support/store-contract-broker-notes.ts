import assert from 'node:assert/strict';
import type { StoreTest } from './store-samples.js';
import { column } from './columns.js';

const BROKER = 'http://orion:1026';
const HOUR_MS = 3_600_000;

/** What every store must guarantee for notes about brokers. */
export function brokerNoteContract(test: StoreTest): void {
  test('a note about a broker is read as it was written, with the time of the store, and only for its broker', async ({
    brokerNotes,
  }) => {
    const empty = await brokerNotes.read(BROKER, HOUR_MS);
    assert.deepEqual(empty.notes, []);
    assert.ok(Number.isSafeInteger(empty.nowMs) && empty.nowMs > 0);
    const [one, two] = [
      { writer: 'one', text: '{"größe": 100}' },
      { writer: 'two', text: '{}' },
    ];
    await brokerNotes.write(BROKER, one, HOUR_MS);
    await brokerNotes.write(BROKER, two, HOUR_MS);
    await brokerNotes.write('http://scorpio:9090', { writer: 'one', text: '[]' }, HOUR_MS);
    const { nowMs, notes } = await brokerNotes.read(BROKER, HOUR_MS);
    assert.deepEqual(new Set(notes), new Set([one, two]));
    assert.ok(nowMs >= empty.nowMs);
  });

  test('a process has one note about a broker, which its next note replaces', async (store) => {
    const { brokerNotes } = store;
    const revision = () => store.revision();
    await brokerNotes.write(BROKER, { writer: 'one', text: 'a' }, HOUR_MS);
    const before = await revision();
    await brokerNotes.write(BROKER, { writer: 'one', text: 'b' }, HOUR_MS);
    assert.equal(await revision(), before, 'what is known of models stays valid');
    assert.deepEqual((await brokerNotes.read(BROKER, HOUR_MS)).notes, [{ writer: 'one', text: 'b' }]);
  });

  test('an outdated note about a broker is not read, and the next write of any process deletes it', async ({
    brokerNotes,
  }) => {
    await brokerNotes.write(BROKER, { writer: 'one', text: 'a' }, HOUR_MS);
    assert.deepEqual((await brokerNotes.read(BROKER, 0)).notes, []);
    assert.equal((await brokerNotes.read(BROKER, HOUR_MS)).notes.length, 1);
    await brokerNotes.write('http://scorpio:9090', { writer: 'two', text: 'b' }, 0);
    assert.deepEqual((await brokerNotes.read(BROKER, HOUR_MS)).notes, []);
  });

  test('the hundred newest notes about a broker are read, newest first', async ({ brokerNotes }, clock) => {
    // Notes written in the same millisecond are ordered by their writers.
    const writers = Array.from({ length: 102 }, (_, index) => String(999 - index));
    for (const writer of writers) {
      clock.time += 1;
      await brokerNotes.write(BROKER, { writer, text: 'a' }, HOUR_MS);
    }
    const { notes } = await brokerNotes.read(BROKER, HOUR_MS);
    assert.deepEqual(column(notes, 'writer'), writers.toReversed().slice(0, 100));
  });

  test('a note about a broker with text that not every database can store is refused', async ({
    brokerNotes,
  }) => {
    const write = brokerNotes.write(BROKER, { writer: 'one', text: 'a\0b' }, HOUR_MS);
    await assert.rejects(write, { kind: 'bodyInvalid' });
  });
}
