import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../../../sidecar/purge/broker/index.js';

const HOUR_MS = 3_600_000;

function capabilitiesAt(startMs: number) {
  const time = { nowMs: startMs };
  return { time, capabilities: new BrokerCapabilities({ now: () => time.nowMs }) };
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
    capabilities.setHonoured({ name: 'q', isShared: true });
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

it('a fact learnt before the clock was set back does not count', () => {
  const { time, capabilities } = capabilitiesAt(HOUR_MS);
  capabilities.setHonoured({ name: 'q', isShared: true });
  time.nowMs -= 1;
  assert.equal(capabilities.isHonoured('q'), false);
  assert.equal(capabilities.facts().size, 0);
  // How old the proof is by then, nobody knows.
  time.nowMs += 1;
  assert.equal(capabilities.isHonoured('q'), false);
});

it('a broker that was seen to ignore a filter loses its proofs, and can be proven again', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.setHonoured({ name: 'q', isShared: true });
  capabilities.setHonoured({ name: 'type', isShared: true });
  capabilities.learn('page pick', 100);
  capabilities.learn('collection-end', '/');
  capabilities.learn('page-max', 100);
  capabilities.learn('counts-before attrs', true);
  capabilities.forgetProofs();
  assert.deepEqual([capabilities.isHonoured('q'), capabilities.isHonoured('type')], [false, false]);
  assert.equal(capabilities.get('page pick'), undefined);
  assert.equal(capabilities.get('collection-end'), undefined);
  assert.deepEqual([capabilities.get('page-max'), capabilities.get('counts-before attrs')], [100, true]);
  // An earlier proof of another process does not count either.
  assert.deepEqual(capabilities.add(new Map([['honoured q', { value: true, atMs: 0 }]]), -1), []);
  assert.equal(capabilities.isHonoured('q'), false);
  capabilities.setHonoured({ name: 'q', isShared: true });
  assert.deepEqual([capabilities.isHonoured('q'), capabilities.isHonoured('type')], [true, false]);
});

it('new facts are announced once, and known facts or those of other processes are not', () => {
  const { capabilities } = capabilitiesAt(0);
  let changes = 0;
  capabilities.onChange = () => (changes += 1);
  capabilities.learn('no-batch', true);
  capabilities.learn('no-batch', true);
  capabilities.learn('page pick', 100);
  capabilities.learn('page pick', 50);
  capabilities.learn('refused pick', true);
  capabilities.learn('refused pick', true);
  assert.equal(changes, 3);
  const theirs = new Map([['page-max', { value: 10, atMs: 0 }]]);
  assert.deepEqual(capabilities.add(theirs, -1), ['page-max']);
  assert.deepEqual(capabilities.add(theirs, -1), []);
  assert.equal(capabilities.get('page-max'), 10);
  const smaller = new Map([['page-max', { value: 5, atMs: 0 }]]);
  assert.deepEqual(capabilities.add(smaller, -1), ['page-max'], 'another value is new as well');
  assert.deepEqual(capabilities.add(theirs, -1), []);
  assert.equal(capabilities.get('page-max'), 5);
  assert.equal(changes, 3);
});
