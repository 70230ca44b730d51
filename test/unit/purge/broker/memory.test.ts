import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerMemory } from '../../../../sidecar/purge/broker/index.js';

const HOUR_MS = 3_600_000;

function capabilitiesAt(startMs: number) {
  const time = { nowMs: startMs };
  return { time, capabilities: new BrokerMemory({ now: () => time.nowMs }) };
}

it('broker capabilities start by expecting the best', () => {
  const { capabilities } = capabilitiesAt(0);
  assert.equal(capabilities.isRefused('pick'), false);
  assert.equal(capabilities.batchDelete, true);
  assert.equal(capabilities.deleteAllNeedsDatasets, false);
  assert.equal(capabilities.collectionEnd, undefined);
  assert.equal(capabilities.countAccepted, true);
  assert.equal(capabilities.pageSizeMax, undefined);
  assert.equal(capabilities.batchSizeMax, undefined);
  assert.equal(capabilities.isHonoured('q'), false);
  assert.equal(capabilities.isProvenPage('pick', 1), false);
});

it('broker capabilities keep what was learnt for an hour, and then forget all of it', () => {
  const { time, capabilities } = capabilitiesAt(1_000_000);
  const learnt = () => ({
    refused: capabilities.isRefused('pick'),
    countAccepted: capabilities.countAccepted,
    pageSizeMax: capabilities.pageSizeMax,
    batchSizeMax: capabilities.batchSizeMax,
    batchDelete: capabilities.batchDelete,
    deleteAllNeedsDatasets: capabilities.deleteAllNeedsDatasets,
    collectionEnd: capabilities.collectionEnd,
    proven: capabilities.isProvenPage('none', 100),
    honoured: capabilities.isHonoured('q'),
  });
  const fresh = learnt();
  capabilities.setRefused('pick');
  capabilities.countAccepted = false;
  capabilities.pageSizeMax = 100;
  capabilities.batchSizeMax = 20;
  capabilities.batchDelete = false;
  capabilities.deleteAllNeedsDatasets = true;
  capabilities.collectionEnd = '/';
  capabilities.setProvenPage('none', 100);
  capabilities.setHonoured({ name: 'q', isShared: true });
  const all = {
    refused: true,
    countAccepted: false,
    pageSizeMax: 100,
    batchSizeMax: 20,
    batchDelete: false,
    deleteAllNeedsDatasets: true,
    collectionEnd: '/',
    proven: true,
    honoured: true,
  };
  assert.deepEqual(learnt(), all);
  time.nowMs += HOUR_MS - 1;
  assert.deepEqual(learnt(), all);
  time.nowMs += 1;
  assert.deepEqual(learnt(), fresh);
});

it('broker capabilities remember an honoured filter for an hour of its own', () => {
  const { time, capabilities } = capabilitiesAt(0);
  time.nowMs = HOUR_MS - 1;
  capabilities.setHonoured({ name: 'idPattern', isShared: true });
  time.nowMs = HOUR_MS;
  assert.equal(capabilities.isRefused('pick'), false);
  time.nowMs += HOUR_MS - 2;
  assert.equal(capabilities.isHonoured('idPattern'), true);
  time.nowMs += 1;
  assert.equal(capabilities.isHonoured('idPattern'), false);
});

it('broker capabilities remember an accepted page size for all smaller pages of the same projection', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.setProvenPage('pick', 500);
  capabilities.setProvenPage('pick', 20);
  assert.equal(capabilities.isProvenPage('pick', 500), true);
  assert.equal(capabilities.isProvenPage('pick', 501), false);
  assert.equal(capabilities.isProvenPage('key-values', 1), false);
});

it('broker capabilities keep filters apart, even if one is a name of Object.prototype', () => {
  const { capabilities } = capabilitiesAt(0);
  for (const name of ['constructor', '__proto__', 'toString'])
    assert.equal(capabilities.isHonoured(name), false);
});

it('each fact counts for an hour from when it was learnt, and knowing it already makes it no younger', () => {
  const { time, capabilities } = capabilitiesAt(0);
  capabilities.pageSizeMax = 100;
  capabilities.collectionEnd = '/';
  time.nowMs = HOUR_MS - 1;
  capabilities.pageSizeMax = 100;
  capabilities.collectionEnd = '/';
  capabilities.batchSizeMax = 20;
  time.nowMs = HOUR_MS;
  assert.equal(capabilities.pageSizeMax, undefined);
  assert.equal(capabilities.collectionEnd, undefined);
  assert.equal(capabilities.batchSizeMax, 20);
  assert.deepEqual([...capabilities.facts()], [['batch-max', { value: 20, atMs: HOUR_MS - 1 }]]);
});

it('each fact can be learnt again when its hour is over', () => {
  const { time, capabilities } = capabilitiesAt(0);
  for (let hour = 1; hour <= 3; hour += 1) {
    capabilities.setRefused('pick');
    capabilities.countAccepted = false;
    capabilities.pageSizeMax = 100;
    capabilities.batchSizeMax = 20;
    capabilities.batchDelete = false;
    capabilities.deleteAllNeedsDatasets = true;
    capabilities.collectionEnd = '/';
    capabilities.setProvenPage('none', 100);
    capabilities.setHonoured({ name: 'q', isShared: true });
    capabilities.setCountsBefore('q');
    const facts = [...capabilities.facts()];
    assert.equal(facts.length, 10);
    for (const [name, { atMs }] of facts) assert.equal(atMs, time.nowMs, name);
    time.nowMs += HOUR_MS;
    assert.equal(capabilities.facts().size, 0);
  }
});

it('each limit of a broker is forgotten where it is found to be wrong', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.countAccepted = false;
  capabilities.pageSizeMax = 100;
  capabilities.batchSizeMax = 20;
  capabilities.batchDelete = false;
  capabilities.deleteAllNeedsDatasets = true;
  capabilities.countAccepted = true;
  capabilities.pageSizeMax = undefined;
  capabilities.batchSizeMax = undefined;
  capabilities.batchDelete = true;
  capabilities.deleteAllNeedsDatasets = false;
  assert.deepEqual([...capabilities.facts().keys()], []);
});

it('nothing learnt in a future that a clock was set back from counts', () => {
  const { time, capabilities } = capabilitiesAt(HOUR_MS);
  capabilities.setHonoured({ name: 'q', isShared: true });
  time.nowMs -= 1;
  assert.equal(capabilities.isHonoured('q'), false);
  assert.equal(capabilities.facts().size, 0);
});

it('a broker that was seen to ignore a filter loses its proofs, and can be proven anew', () => {
  const { capabilities } = capabilitiesAt(0);
  capabilities.setHonoured({ name: 'q', isShared: true });
  capabilities.setHonoured({ name: 'type', isShared: true });
  capabilities.setProvenPage('pick', 100);
  capabilities.collectionEnd = '/';
  capabilities.pageSizeMax = 100;
  capabilities.setCountsBefore('attrs');
  capabilities.distrust();
  assert.deepEqual([capabilities.isHonoured('q'), capabilities.isHonoured('type')], [false, false]);
  assert.equal(capabilities.isProvenPage('pick', 1), false);
  assert.equal(capabilities.collectionEnd, undefined);
  assert.deepEqual([capabilities.pageSizeMax, capabilities.countsBefore('attrs')], [100, true]);
  // Nor does a proof count that another process made before.
  assert.deepEqual(capabilities.add(new Map([['honoured q', { value: true, atMs: 0 }]]), -1), []);
  assert.equal(capabilities.isHonoured('q'), false);
  capabilities.setHonoured({ name: 'q', isShared: true });
  assert.deepEqual([capabilities.isHonoured('q'), capabilities.isHonoured('type')], [true, false]);
});

it('what is learnt is announced once, and not what was known or comes from another process', () => {
  const { capabilities } = capabilitiesAt(0);
  let changes = 0;
  capabilities.onLearnt = () => (changes += 1);
  capabilities.batchDelete = false;
  capabilities.batchDelete = false;
  capabilities.setProvenPage('pick', 100);
  capabilities.setProvenPage('pick', 50);
  capabilities.setRefused('pick');
  capabilities.setRefused('pick');
  assert.equal(changes, 3);
  const theirs = new Map([['page-max', { value: 10, atMs: 0 }]]);
  assert.deepEqual(capabilities.add(theirs, -1), ['page-max']);
  assert.deepEqual(capabilities.add(theirs, -1), []);
  assert.equal(capabilities.pageSizeMax, 10);
  const smaller = new Map([['page-max', { value: 5, atMs: 0 }]]);
  assert.deepEqual(capabilities.add(smaller, -1), ['page-max'], 'another value is new as well');
  assert.deepEqual(capabilities.add(theirs, -1), []);
  assert.equal(capabilities.pageSizeMax, 5);
  assert.equal(changes, 3);
});
