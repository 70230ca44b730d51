import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { runKilledJob } from '../support/killed-job.js';
import { SlowBroker } from '../support/slow-broker.js';

after(stopAll);

it('a killed job is completed if the broker executes all requests that it received', async () => {
  const broker = await SlowBroker.start({ entities: 300, msEach: 3, dropsUnwanted: false });
  const record = await runKilledJob(broker, 300, [230]);
  // If the process is killed after noting a batch and before sending it, that batch remains.
  assert.ok(broker.left <= 32, JSON.stringify(record));
  assert.equal(record.state, broker.left === 0 ? 'succeeded' : 'partial');
  assert.deepEqual([record.failed, broker.deletes], [broker.left, 300 - broker.left]);
});

it('a killed job ends partial, without exceeding its maximum, if the broker drops requests that it received', async () => {
  const broker = await SlowBroker.start({ entities: 300, msEach: 3, dropsUnwanted: true });
  const record = await runKilledJob(broker, 300, [230]);
  const { state, matched, deleted, alreadyGone, failed, unknown } = record;
  assert.ok(state === 'partial' || broker.left === 0, JSON.stringify(record));
  assert.ok(broker.left < 200, JSON.stringify(record));
  assert.equal(failed, broker.left);
  assert.equal(matched, deleted + alreadyGone + failed + unknown);
});
