import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCapabilities } from '../../../../sidecar/purge/broker/index.js';
import { createTrial } from '../../../../sidecar/purge/listing/trial.js';

describe('what a page learns while it is refused', () => {
  it('what a page learns while it is refused holds for that page alone until it is kept', () => {
    const capabilities = createCapabilities({ now: () => 0 });
    capabilities.pageSizeMax = 200;
    const [trial, other] = [createTrial(capabilities), createTrial(capabilities)];
    trial.limitPages(100);
    trial.limitPages(150);
    trial.refuse(['pick']);
    trial.refuseCount();
    const seen = ({ pageSizeMax, refusedProjections, countAccepted }: typeof trial) => [
      pageSizeMax,
      [...refusedProjections],
      countAccepted,
    ];
    assert.deepEqual(seen(trial), [100, ['pick'], false]);
    assert.deepEqual(seen(other), [200, [], true]);
    assert.equal(capabilities.facts().size, 1);
    trial.keep();
    assert.deepEqual(seen(other), [100, ['pick'], false]);
  });

  it('a trial that found nothing keeps nothing, and one never widens what became known meanwhile', () => {
    const capabilities = createCapabilities({ now: () => 0 });
    createTrial(capabilities).keep();
    assert.equal(capabilities.facts().size, 0);
    const trial = createTrial(capabilities);
    trial.limitPages(500);
    trial.refuse(['pick']);
    capabilities.pageSizeMax = 50;
    capabilities.refusedProjections = new Set(['key-values'] as const);
    capabilities.countAccepted = false;
    trial.keep();
    assert.equal(capabilities.pageSizeMax, 50);
    assert.deepEqual([...capabilities.refusedProjections].sort(), ['key-values', 'pick']);
    assert.equal(capabilities.countAccepted, false);
  });
});
