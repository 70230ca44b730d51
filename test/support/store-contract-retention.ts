import assert from 'node:assert/strict';
import type { NewRetentionPolicy } from '../../sidecar/store/policy-records.js';
import { ALL, type StoreTest } from './store-samples.js';
import { settingsOf } from './retention-settings.js';
import { column } from './columns.js';

function policy(name: string, settings: Partial<NewRetentionPolicy['settings']> = {}): NewRetentionPolicy {
  return {
    name,
    settings: settingsOf({ mode: 'report', ...settings }),
    author: { caller: 'ada', policy: { 'max-affected': 10 } },
  };
}

/** What every store must guarantee for retention policies. */
export function retentionContract(test: StoreTest): void {
  test('a retention policy is read as it was put, and the put reports whether it is new', async ({
    retention,
  }, clock) => {
    const made = await retention.put(policy('old'));
    assert.equal(made.isNew, true);
    const { etag, ...rest } = made.policy;
    const times = { doneUntil: clock.time, createdAt: clock.time, modifiedAt: clock.time };
    assert.deepEqual(rest, { ...policy('old'), ...times });
    assert.deepEqual(await retention.get('old'), made.policy);
    clock.time += 1000;
    const again = await retention.put(policy('old', { olderThan: 'P7D' }));
    assert.equal(again.isNew, false);
    assert.notEqual(again.policy.etag, etag);
    assert.equal(again.policy.createdAt, made.policy.createdAt);
    assert.equal(again.policy.doneUntil, made.policy.doneUntil, 'what was due stays due');
  });

  test('the schedule of a retention policy starts again if it is changed or the policy is enabled again', async ({
    retention,
  }, clock) => {
    const doneAfter = async (settings: object) => {
      clock.time += 1000;
      return (await retention.put(policy('old', settings))).policy.doneUntil - clock.time;
    };
    assert.equal(await doneAfter({}), 0);
    assert.equal(await doneAfter({ query: 'type=Bus' }), -1000);
    assert.equal(await doneAfter({ schedule: '0 4 * * *' }), 0);
    assert.equal(await doneAfter({ schedule: '0 4 * * *', timeZone: 'Europe/Berlin' }), 0);
    assert.equal(
      await doneAfter({ schedule: '0 4 * * *', timeZone: 'Europe/Berlin', enabled: false }),
      -1000,
    );
    assert.equal(await doneAfter({ schedule: '0 4 * * *', timeZone: 'Europe/Berlin' }), 0);
  });

  test('retention policies are listed by code points, and the enabled ones separately', async ({
    retention,
  }) => {
    for (const name of ['b', 'B', 'a', 'ä']) await retention.put(policy(name, { enabled: name !== 'a' }));
    const { items, total } = await retention.list({ limit: 3, offset: 1 });
    assert.deepEqual([items.map(({ name }) => name), total], [['a', 'b', 'ä'], 4]);
    assert.deepEqual((await retention.list(ALL)).items[0]?.name, 'B');
    assert.deepEqual(column(await retention.enabled(), 'name'), ['B', 'b', 'ä']);
  });

  test('puts and deletes of retention policies respect the expected state', async ({ retention }) => {
    const refused = { kind: 'preconditionFailed' };
    await assert.rejects(retention.put(policy('old'), 'present'), refused);
    const { etag } = (await retention.put(policy('old'), 'absent')).policy;
    await assert.rejects(retention.put(policy('old'), 'absent'), refused);
    await assert.rejects(retention.put(policy('old'), 'new'), {
      kind: 'alreadyExists',
      message: /retention policy/,
    });
    await assert.rejects(retention.put(policy('old'), ['x']), refused);
    await assert.rejects(retention.delete('old', ['x']), refused);
    assert.equal((await retention.put(policy('old'), 'present')).isNew, false);
    const { etag: next } = await retention.get('old');
    assert.notEqual(next, etag);
    await assert.rejects(retention.put(policy('old'), [etag]), refused);
    const last = (await retention.put(policy('old'), ['x', next])).policy.etag;
    await retention.delete('old', ['x', last]);
    await assert.rejects(retention.delete('old'), { kind: 'notFound' });
    for (const name of ['old', 'a\0b']) await assert.rejects(retention.get(name), { kind: 'notFound' });
  });

  test('a due retention policy is taken by one process, however many try, and keeps its ETag', async ({
    retention,
  }) => {
    const { policy: made } = await retention.put(policy('old'));
    const from = made.doneUntil;
    const claims = await Promise.all([1, 2, 3].map((more) => retention.claim('old', from, from + more)));
    assert.equal(claims.filter(Boolean).length, 1);
    const { etag, doneUntil } = await retention.get('old');
    assert.deepEqual([etag, doneUntil], [made.etag, from + 1 + claims.indexOf(true)]);
    await retention.put(policy('old', { enabled: false }));
    assert.equal(await retention.claim('old', doneUntil, doneUntil + 1), false);
    assert.equal(await retention.claim('none', 0, 1), false);
  });
}
