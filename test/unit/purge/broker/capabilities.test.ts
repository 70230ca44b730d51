import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../../../sidecar/purge/broker/index.js';

const HOUR_MS = 3_600_000;

function capabilitiesAt(startMs: number) {
  const time = { nowMs: startMs, aheadMs: 0 };
  return {
    time,
    capabilities: new BrokerCapabilities({
      now: () => time.nowMs + time.aheadMs,
      monotonicMs: () => time.nowMs,
    }),
  };
}

/** One fact of each kind. */
const FACTS = [
  ['refused pick', true],
  ['no-count', true],
  ['page-max', 100],
  ['batch-max', 20],
  ['no-batch', true],
  ['needs-datasets', true],
  ['collection-end', '/'],
  ['page none', 100],
  ['counts-before q', true],
] as const;

it('broker capabilities keep each fact for an hour, then forget it, and can learn it again', () => {
  const { time, capabilities } = capabilitiesAt(1_000_000);
  const known = () => FACTS.map(([name]) => capabilities.get(name));
  for (let hour = 1; hour <= 3; hour += 1) {
    for (const [name, value] of FACTS) capabilities.learn(name, value);
    capabilities.setHonoured('q');
    const facts = [...capabilities.facts()];
    assert.equal(facts.length, FACTS.length + 1);
    for (const [name, { atMs }] of facts) assert.equal(atMs, time.nowMs, name);
    time.nowMs += HOUR_MS - 1;
    assert.deepEqual([known(), capabilities.isHonoured('q')], [FACTS.map(([, value]) => value), true]);
    time.nowMs += 1;
    assert.deepEqual([known(), capabilities.isHonoured('q')], [FACTS.map(() => undefined), false]);
    assert.equal(capabilities.facts().size, 0);
  }
});

it('broker capabilities remember the largest accepted page of a projection, and the smallest limits', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.learn('page pick', 500);
  capabilities.learn('page pick', 20);
  assert.equal(capabilities.get('page pick'), 500);
  assert.equal(capabilities.get('page key-values'), undefined);
  for (const name of ['page-max', 'batch-max'] as const) {
    for (const size of [50, 20, 100]) capabilities.learn(name, size);
    assert.equal(capabilities.get(name), 20, name);
  }
});

it('broker capabilities keep filters apart, even if one has a name of Object.prototype', () => {
  const { capabilities } = capabilitiesAt(0);
  for (const name of ['constructor', '__proto__', 'toString'])
    assert.equal(capabilities.isHonoured(name), false);
});

it('each fact counts for an hour from when it was learnt, and learning it again makes it no younger', () => {
  const { time, capabilities } = capabilitiesAt(0);
  capabilities.learn('page-max', 100);
  capabilities.learn('collection-end', '/');
  time.nowMs = HOUR_MS - 1;
  capabilities.learn('page-max', 100);
  capabilities.learn('collection-end', '/');
  capabilities.learn('batch-max', 20);
  time.nowMs = HOUR_MS;
  assert.equal(capabilities.get('page-max'), undefined);
  assert.equal(capabilities.get('collection-end'), undefined);
  assert.equal(capabilities.get('batch-max'), 20);
  assert.deepEqual([...capabilities.facts()], [['batch-max', { value: 20, atMs: HOUR_MS - 1 }]]);
});

it('each fact counts for an hour, however the time of day is set', () => {
  const { time, capabilities } = capabilitiesAt(0);
  capabilities.setHonoured('q');
  for (const aheadMs of [-2 * HOUR_MS, 2 * HOUR_MS]) {
    time.aheadMs = aheadMs;
    assert.equal(capabilities.isHonoured('q'), true);
    assert.deepEqual([...capabilities.facts()], [['honoured q', { value: true, atMs: 0 }]]);
  }
  time.aheadMs = -2 * HOUR_MS;
  time.nowMs = HOUR_MS;
  assert.equal(capabilities.isHonoured('q'), false);
  assert.equal(capabilities.facts().size, 0);
});

it('the newest 200 proofs of queries are kept, and all other facts', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.learn('page-max', 100);
  for (let nth = 0; nth < 250; nth += 1) capabilities.setHonoured(String(nth));
  capabilities.setHonoured('50');
  capabilities.setHonoured('250');
  const kept = [...Array(251).keys()].filter((nth) => capabilities.isHonoured(String(nth)));
  assert.deepEqual([kept.length, kept[0], kept[1], kept.at(-1)], [200, 50, 52, 250]);
  assert.equal(capabilities.get('page-max'), 100);
});

it('a broker that was seen to ignore a filter loses its proofs, and can be proven again', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.setHonoured('q');
  capabilities.setHonoured('type');
  capabilities.learn('page pick', 100);
  capabilities.learn('collection-end', '/');
  capabilities.learn('page-max', 100);
  capabilities.learn('counts-before attrs', true);
  capabilities.forgetProofs();
  assert.deepEqual([capabilities.isHonoured('q'), capabilities.isHonoured('type')], [false, false]);
  assert.equal(capabilities.get('page pick'), undefined);
  assert.equal(capabilities.get('collection-end'), undefined);
  assert.deepEqual([capabilities.get('page-max'), capabilities.get('counts-before attrs')], [100, true]);
  capabilities.setHonoured('q');
  assert.deepEqual([capabilities.isHonoured('q'), capabilities.isHonoured('type')], [true, false]);
});
