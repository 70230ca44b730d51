import assert from 'node:assert/strict';
import { it } from 'node:test';
import { configuredKinds } from '../../../sidecar/jobs/configured-kinds.js';
import { loadConfig } from '../../../sidecar/shared/config/load.js';
import { createTestClock } from '../../support/purge-harness.js';

/** Each setting has a different number, so that no two can be confused. */
const SETTINGS = {
  RETRY_MAX_ATTEMPTS: '3',
  RETRY_MIN_DELAY_MS: '101',
  RETRY_MAX_DELAY_MS: '5003',
  BROKER_AWAY_MS: '7001',
  PURGE_PAGE_SIZE: '211',
  PURGE_BATCH_SIZE: '83',
  PURGE_CONCURRENCY: '7',
  TEMPORAL_PURGE_CONCURRENCY: '13',
  PURGE_MAX_AFFECTED: '997',
};

function kindsOf(env: Readonly<Record<string, string>> = {}) {
  const clock = createTestClock();
  const client = { send: () => assert.fail('nothing is sent'), close: async () => {} };
  return configuredKinds(
    { ...loadConfig({ ...SETTINGS, ...env }), PURGE_PAGE_SIZE_MAX: 977 },
    { client, clock, random: () => 0 },
  );
}

it('each setting of purges reaches the part that it configures', () => {
  const { entities, temporal } = kindsOf();
  const limits = { pageSize: 211, pageSizeMax: 977, batchSize: 83, maxAffected: 997 };
  assert.deepEqual(entities.limits, { ...limits, concurrency: 7, strategy: 'auto' });
  assert.deepEqual(temporal.limits, { ...limits, concurrency: 13, strategy: 'single' });
  for (const { dependencies } of [entities, temporal]) {
    const retry = { maxAttempts: 3, minDelayMs: 101, maxDelayMs: 5003, awayMs: 7001 };
    assert.deepEqual(dependencies.retry, retry);
  }
});

it('facts learnt about a broker are kept apart for current and temporal entities', () => {
  const { entities, temporal } = kindsOf();
  assert.notEqual(entities.dependencies.capabilities, temporal.dependencies.capabilities);
});

it('PURGE_STRATEGY applies to entities only', () => {
  const { entities, temporal } = kindsOf({ PURGE_STRATEGY: 'native' });
  assert.deepEqual([entities.limits.strategy, temporal.limits.strategy], ['native', 'single']);
});
