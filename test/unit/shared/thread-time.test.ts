import assert from 'node:assert/strict';
import { it } from 'node:test';
import { processorTimeMs, systemThread } from '../../../sidecar/shared/thread-time.js';

it('the processor time of a thread grows as it works, where the system says it', () => {
  const thread = systemThread();
  const before = processorTimeMs(thread);
  if (before === undefined) return;
  assert.match(thread ?? '', /^\d+$/);
  for (let turns = 0; (processorTimeMs(thread) ?? 0) < before + 2; turns += 1) assert.ok(turns < 1_000_000);
});

it('the processor time of a thread is not known where there is no such thread', () => {
  assert.equal(processorTimeMs(undefined), undefined);
  assert.equal(processorTimeMs('none'), undefined);
});
