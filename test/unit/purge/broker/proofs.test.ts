import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readNote, writeNote } from '../../../../sidecar/jobs/capability-sync.js';
import { BrokerCapabilities } from '../../../../sidecar/purge/broker/index.js';

const SAME = { leastMs: 0, mostMs: 0 };
const proof = (nth: number, isShared = true) => ({ name: `q${nth}`.padEnd(43, '-'), isShared });

it('the newest 200 proofs of queries are kept, including those of other processes', () => {
  let nowMs = 0;
  const [one, other] = [
    new BrokerCapabilities({ now: () => nowMs }),
    new BrokerCapabilities({ now: () => nowMs }),
  ];
  one.learn('page-max', 100);
  for (const [capabilities, from] of [
    [one, 0],
    [other, 150],
  ] as const) {
    for (let nth = from; nth < from + 250; nth += 1) {
      nowMs += 1;
      capabilities.setHonoured(proof(nth));
    }
  }
  one.add(other.facts(), -1);
  const kept = [...Array(400).keys()].filter((nth) => one.isHonoured(proof(nth).name));
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, 200, 399]);
  assert.equal(one.get('page-max'), 100, 'what is no proof stays');
});

it('the proof of a query with credentials is in no note, and none is read from one', () => {
  const capabilities = new BrokerCapabilities({ now: () => 5 });
  capabilities.setHonoured(proof(1));
  capabilities.setHonoured(proof(2, false));
  assert.deepEqual(
    [1, 2].map((nth) => capabilities.isHonoured(proof(nth).name)),
    [true, true],
  );
  const text = writeNote({ entities: capabilities.facts(), temporal: new Map() }, SAME);
  assert.ok(text.includes(proof(1).name) && !text.includes(proof(2).name));
  assert.equal(readNote(text.replace('honoured ', 'honoured-here '), SAME, 5), undefined);
  capabilities.forgetProofs();
  assert.deepEqual(
    [1, 2].map((nth) => capabilities.isHonoured(proof(nth).name)),
    [false, false],
  );
});

it('a note with the maximum number of proofs of both collections can be read', () => {
  const capabilities = new BrokerCapabilities({ now: () => 1_800_000_000_000 });
  for (let nth = 0; nth < 300; nth += 1) capabilities.setHonoured(proof(nth));
  const learnt = { entities: capabilities.facts(), temporal: capabilities.facts() };
  const read = readNote(writeNote(learnt, SAME), SAME, 1_800_000_000_000);
  assert.deepEqual([read?.entities.size, read?.temporal.size], [200, 200]);
});
