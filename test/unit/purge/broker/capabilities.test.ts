import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCapabilities } from '../../../../sidecar/purge/broker/capabilities.js';

const HOUR_MS = 3_600_000;

function capabilitiesAt(startMs: number) {
  const time = { nowMs: startMs };
  return { time, capabilities: createCapabilities({ now: () => time.nowMs }) };
}

describe('broker capabilities', () => {
  it('broker capabilities start by expecting the best', () => {
    const { capabilities } = capabilitiesAt(0);
    assert.deepEqual([...capabilities.refusedProjections], []);
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
      refused: [...capabilities.refusedProjections],
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
    capabilities.refusedProjections = new Set(['pick'] as const);
    capabilities.countAccepted = false;
    capabilities.pageSizeMax = 100;
    capabilities.batchSizeMax = 20;
    capabilities.batchDelete = false;
    capabilities.deleteAllNeedsDatasets = true;
    capabilities.collectionEnd = '/';
    capabilities.setProvenPage('none', 100);
    capabilities.setHonoured('q');
    const all = {
      refused: ['pick'],
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
    capabilities.setHonoured('idPattern');
    time.nowMs = HOUR_MS;
    assert.deepEqual([...capabilities.refusedProjections], []);
    time.nowMs += HOUR_MS - 2;
    assert.equal(capabilities.isHonoured('idPattern'), true);
    time.nowMs += 1;
    assert.equal(capabilities.isHonoured('idPattern'), false);
  });

  it('broker capabilities know a page as accepted when it, or a larger one of the same projection, was', () => {
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
});
