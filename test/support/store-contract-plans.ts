import assert from 'node:assert/strict';
import { purgeRecord } from './store-contract-purges.js';
import type { StoreTest } from './store-samples.js';

const HOUR_MS = 3_600_000;

const plan = (id: string, items = 3) => ({ id, key: 'ab', items, parts: ['cGFydCAx', 'cGFydCAy'] });

/** What every store must guarantee for plans of dry runs. */
export function planContract(test: StoreTest): void {
  test('a plan and its parts are found as they were stored', async ({ plans }) => {
    assert.ok(await plans.keep(plan('one'), 10, HOUR_MS));
    const found = await plans.find('one');
    assert.ok(found !== undefined && found.ageMs >= 0 && found.ageMs < HOUR_MS);
    assert.deepEqual(
      { ...found, ageMs: 0 },
      { id: 'one', key: 'ab', items: 3, ageMs: 0, appliedBy: undefined, broker: undefined },
    );
    assert.deepEqual(
      [await plans.part('one', 0), await plans.part('one', 1), await plans.part('one', 2)],
      ['cGFydCAx', 'cGFydCAy', undefined],
    );
    assert.equal(await plans.find('two'), undefined);
    assert.equal(await plans.find('\u0000'), undefined);
  });

  test('a plan is found with the broker of its dry run', async ({ plans, jobs }) => {
    await jobs.add(purgeRecord('one', 'queued'), { headers: {} }, 100, 'http://a/');
    await plans.keep(plan('one'), 10, HOUR_MS);
    assert.equal((await plans.find('one'))?.broker, 'http://a/');
  });

  test('a plan that is complete stays as it is if its dry run stores another one, unless it is too old', async ({
    plans,
  }) => {
    assert.equal((await plans.keep(plan('one'), 10, HOUR_MS))?.items, 3);
    const wider = { ...plan('one', 4), parts: ['eA=='] };
    assert.equal((await plans.keep(wider, 10, HOUR_MS))?.items, 3);
    assert.deepEqual([(await plans.find('one'))?.items, await plans.part('one', 0)], [3, 'cGFydCAx']);
    assert.equal((await plans.keep(wider, 4, -1))?.items, 4);
    assert.deepEqual([(await plans.find('one'))?.items, await plans.part('one', 1)], [4, undefined]);
  });

  test('the number of items in all plans is limited, and expired plans make room', async ({ plans }) => {
    assert.ok(await plans.keep(plan('one', 3000), 5000, HOUR_MS));
    assert.ok(!(await plans.keep(plan('two', 3000), 5000, HOUR_MS)));
    assert.equal(await plans.find('two'), undefined);
    assert.ok(await plans.keep(plan('two', 2000), 5000, HOUR_MS));
    assert.ok(await plans.keep(plan('three'), 5000, -1));
    assert.equal(await plans.find('one'), undefined);
  });

  test('a plan is kept while a purge waits to apply it, however old it is', async ({ plans, jobs }) => {
    await plans.keep(plan('one'), 5, HOUR_MS);
    await jobs.add(purgeRecord('purge-1', 'queued'), { headers: {} }, 100);
    assert.ok(await plans.claim('one', 'purge-1'));
    assert.ok(!(await plans.keep(plan('two'), 5, -1)));
    assert.equal((await plans.find('one'))?.appliedBy, 'purge-1');
  });

  test('a plan is applied by a single purge', async ({ plans }) => {
    await plans.keep(plan('one'), 10, HOUR_MS);
    assert.ok(await plans.claim('one', 'purge-1'));
    assert.ok(await plans.claim('one', 'purge-1'));
    assert.ok(!(await plans.claim('one', 'purge-2')));
    assert.equal((await plans.find('one'))?.appliedBy, 'purge-1');
    assert.ok(!(await plans.claim('two', 'purge-1')));
  });

  test('a plan is kept until the record of its purge has ended, and then makes room', async ({
    plans,
    jobs,
  }) => {
    await plans.keep(plan('one'), 5, HOUR_MS);
    await jobs.add(purgeRecord('purge-1', 'queued'), { headers: {} }, 100);
    assert.ok(await plans.claim('one', 'purge-1'));
    assert.ok(!(await plans.keep(plan('two'), 5, HOUR_MS)));
    await jobs.put(purgeRecord('purge-1', 'succeeded'));
    assert.ok(await plans.keep(plan('two'), 5, HOUR_MS));
    assert.equal(await plans.find('one'), undefined);
    assert.equal(await plans.part('one', 0), undefined);
  });
}
