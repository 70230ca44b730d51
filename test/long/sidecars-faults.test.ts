import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { stopAll } from '../support/gateway-harness.js';
import { recordAt, Sidecars, submit, until } from '../support/sidecars.js';

after(stopAll);

const NAMES = ['one', 'two', 'three'];
const LEASE_MS = 3000;
const MOST_ENTITIES = 600;

/** What happens to a sidecar, how long it lasts, and the jobs that are accepted just before it. */
const STEP = fc.record({
  fault: fc.constantFrom('kill', 'pause', 'cut connections', 'shut down'),
  name: fc.constantFrom(...NAMES),
  ms: fc.integer({ min: 100, max: 2 * LEASE_MS }),
  jobs: fc.array(
    fc.record({
      entities: fc.integer({ min: 1, max: MOST_ENTITIES }),
      // So few that they exceed the maximum only together with deletes that were not recorded.
      more: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined, freq: 2 }),
    }),
    {
      minLength: 3,
      maxLength: 5,
    },
  ),
});
type Step = ReturnType<typeof STEP.generate>['value'];

interface Job {
  readonly id: string;
  readonly type: string;
  readonly entities: number;
  /** How many entities others create while it runs, if it has a maximum: the first ones. */
  readonly more: number | undefined;
}

async function inflict({ fault, name, ms }: Step, sidecars: Sidecars): Promise<void> {
  switch (fault) {
    case 'kill':
      await sidecars.kill(name);
      await sleep(ms);
      await sidecars.revive(name);
      return;
    case 'shut down':
      sidecars.processOf(name).signal('SIGTERM');
      await sidecars.processOf(name).ended;
      await sidecars.revive(name);
      return;
    case 'pause':
      sidecars.processOf(name).signal('SIGSTOP');
      await sleep(ms);
      sidecars.processOf(name).signal('SIGCONT');
      return;
    case 'cut connections':
      await sidecars.database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'ngsi-ld-gateway'`,
      );
  }
}

/** Checks the record of a job against what the broker has lost. */
function check({ type, entities, more }: Job, record: PurgeRecord, { broker }: Sidecars): void {
  const left = broker.broker.entities.ids().filter((id) => id.startsWith(`urn:ngsi-ld:${type}:`)).length;
  const removed = entities + (more ?? 0) - left;
  const { state, matched, deleted, alreadyGone, failed, unknown, warnings } = record;
  const what = JSON.stringify({ type, entities, more, removed, record });
  assert.ok(record.endedAt !== undefined, what);
  if (more === undefined) assert.deepEqual([state, left], ['succeeded', 0], what);
  else assert.ok(removed <= entities, what);
  assert.ok(deleted <= removed, what);
  assert.ok(removed <= deleted + alreadyGone + unknown || warnings.length > 0, what);
  if (state === 'succeeded' || state === 'partial')
    assert.equal(matched, deleted + alreadyGone + failed + unknown, what);
}

it('every job ends, runs in one sidecar at a time, keeps its maximum and has true counts, whatever happens to sidecars and connections', async (t) => {
  const env = { JOB_LEASE_MS: String(LEASE_MS), PURGE_BATCH_SIZE: '15', PURGE_CONCURRENCY: '2' };
  const sidecars = await Sidecars.start(NAMES, env, { isApart: true });
  const { broker } = sidecars;
  broker.delayMs = 150;
  const jobs: Job[] = [];
  for (const step of fc.sample(STEP, { seed: 1, numRuns: 20 })) {
    for (const { entities, more } of step.jobs) {
      const type = `Job${String(jobs.length)}`;
      broker.seed(type, entities);
      const sidecar = sidecars.all[jobs.length % NAMES.length];
      assert.ok(sidecar !== undefined);
      const bound = more === undefined ? '' : `&maxAffected=${String(entities)}`;
      const { id } = await submit(sidecar, `type=${type}${bound}`, { 'x-request-id': type });
      jobs.push({ id, type, entities, more });
    }
    await inflict(step, sidecars);
    for (const { type, more = 0 } of jobs.slice(-step.jobs.length))
      broker.broker.entities.seed(more, (n) => ({ id: `urn:ngsi-ld:${type}:more-${String(n)}`, type }));
  }
  const [sidecar] = sidecars.all;
  assert.ok(sidecar !== undefined);
  const states = new Map<string, number>();
  for (const job of jobs) {
    const record = await until(
      () => recordAt(sidecar, job.id),
      ({ endedAt }) => endedAt !== undefined,
    );
    check(job, record, sidecars);
    states.set(record.state, (states.get(record.state) ?? 0) + 1);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(states)));
  assert.deepEqual(broker.overlaps, []);
});
