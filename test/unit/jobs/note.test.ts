import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { DISTRUSTED, type Facts, type FactValue } from '../../../sidecar/purge/broker/capabilities.js';
import { type ClockOffset, readNote, writeNote } from '../../../sidecar/jobs/capability-sync.js';

const SAME: ClockOffset = { leastMs: 0, mostMs: 0 };
const NOW = 1_700_000_000_000;

const FACTS: Facts = new Map<string, { value: FactValue; atMs: number }>([
  ['page-max', { value: 100, atMs: NOW - 5 }],
  ['collection-end', { value: '/', atMs: NOW - 4 }],
  ['honoured q beside id', { value: true, atMs: NOW - 3 }],
  [DISTRUSTED, { value: true, atMs: NOW - 10 }],
]);

const LEARNT = { entities: FACTS, temporal: new Map() };

const noteOf = (entities: unknown, more: object = {}) =>
  JSON.stringify({ format: 2, entities, temporal: {}, ...more });

it('a note about a broker is read as it was written', () => {
  assert.deepEqual(readNote(writeNote(LEARNT, SAME), SAME, NOW), LEARNT);
  assert.deepEqual(JSON.parse(writeNote(LEARNT, SAME)), {
    format: 2,
    entities: {
      'page-max': [100, NOW - 5],
      'collection-end': ['/', NOW - 4],
      'honoured q beside id': [true, NOW - 3],
      [DISTRUSTED]: [true, NOW - 10],
    },
    temporal: {},
  });
});

it('a note makes no proof younger and no contradiction older, whatever the delay of the store and the clocks', () => {
  const anyClock = fc.record({
    aheadMs: fc.integer({ min: -1e9, max: 1e9 }),
    earlyMs: fc.integer({ min: 0, max: 5000 }),
    lateMs: fc.integer({ min: 0, max: 5000 }),
  });
  const ageMs = fc.integer({ min: 0, max: 3_600_000 });
  fc.assert(
    fc.property(anyClock, anyClock, ageMs, (writer, reader, age) => {
      const offsetOf = ({ aheadMs, earlyMs, lateMs }: typeof writer): ClockOffset => ({
        leastMs: aheadMs - lateMs,
        mostMs: aheadMs + earlyMs,
      });
      // What happened at a moment of the store, by the clocks of both processes.
      const atWriter = NOW - age - writer.aheadMs;
      const atReader = NOW - age - reader.aheadMs;
      const facts: Facts = new Map([
        ['honoured q', { value: true, atMs: atWriter }],
        [DISTRUSTED, { value: true, atMs: atWriter }],
      ]);
      const text = writeNote({ entities: facts, temporal: new Map() }, offsetOf(writer));
      const read = readNote(text, offsetOf(reader), NOW - reader.aheadMs)?.entities;
      const [proof, contradiction] = [read?.get('honoured q'), read?.get(DISTRUSTED)];
      assert.ok(proof !== undefined && contradiction !== undefined);
      assert.ok(proof.atMs <= atReader && proof.atMs >= atReader - 20_000);
      assert.ok(contradiction.atMs >= atReader && contradiction.atMs <= NOW - reader.aheadMs);
    }),
  );
});

it('a note that is malformed anywhere or has another format is rejected as a whole', () => {
  const good = ['page-max', [100, NOW]] as const;
  assert.ok(readNote(noteOf(Object.fromEntries([good])), SAME, NOW));
  for (const wrong of [
    ...[`"page-max":[0,${NOW}]`, `"page-max":["100",${NOW}]`, '"page-max":100', '"page-max":[100]'],
    ...[`"page-max":[100,${NOW},1]`, '"page-max":[100,"now"]', '"page-max":[100,1.5]', '"page-max":null'],
    ...[`"page-max":{"0":100,"1":${NOW}}`, `"honoured":[true,${NOW}]`, `"believe":[true,${NOW}]`],
    ...[`"honoured q":[1,${NOW}]`, `"constructor":[true,${NOW}]`, `"":[true,${NOW}]`],
  ]) {
    const text = noteOf(JSON.parse(`{"batch-max":[5,${NOW}],${wrong}}`));
    assert.equal(readNote(text, SAME, NOW), undefined, text);
  }
  for (const text of [
    ...['', 'null', '[]', '1', '{}', '{"format":2}', `${noteOf({})}x`, noteOf([]), noteOf(null)],
    noteOf({}, { temporal: undefined }),
    noteOf({}, { format: 1 }),
    noteOf({}, { format: '2' }),
    noteOf({}, { more: 'x'.repeat(64 * 1024) }),
    '{"format":2,"entities":{"__proto__":[true,1]},"temporal":{}}',
  ])
    assert.equal(readNote(text, SAME, NOW), undefined, text.slice(0, 100));
});

it('reading a note never throws, whatever the text', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((json) => noteOf(JSON.parse(json))),
      ),
      (text) => {
        readNote(text, SAME, NOW);
      },
    ),
  );
});
