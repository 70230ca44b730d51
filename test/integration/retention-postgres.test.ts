import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { RetentionScheduler } from '../../sidecar/jobs/retention/scheduler.js';
import { PostgresStore } from '../../sidecar/store/postgres-store.js';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { stopAll, stopLater } from '../support/gateway-harness.js';
import { createDatabase } from '../support/postgres.js';
import { settingsOf } from '../support/retention-settings.js';
import { Waiting } from '../support/waiting.js';

after(stopAll);

const START = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;
const NAMES = ['a', 'b', 'c', 'd'];

/** A clock shared by all sidecars, whose time passes only when the test advances it. */
class CommonClock {
  nowMs = START;
  readonly #waiting = new Waiting();
  #sleepers: (() => void)[] = [];

  readonly now = () => this.nowMs;

  readonly monotonicMs = () => this.nowMs;

  readonly sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      signal?.addEventListener('abort', wake);
      this.#sleepers.push(wake);
      this.#waiting.notify();
    });

  /** Waits until that many schedulers sleep, which means that all have checked their policies. */
  allAsleep(count: number): Promise<true> {
    return this.#waiting.until(() => (this.#sleepers.length === count ? true : undefined));
  }

  wakeAll(): void {
    for (const wake of this.#sleepers.splice(0)) wake();
  }
}

describe('retention policies of three sidecars on one PostgreSQL', { timeout: 300_000 }, () => {
  it('a retention run that is due starts once, however many sidecars check at the same moment', async () => {
    const database = await createDatabase();
    stopLater(() => database.drop());
    const clock = new CommonClock();
    const runs: string[] = [];
    const errors: unknown[] = [];
    const sidecars = await Promise.all(
      [1, 2, 3].map(async (number) => {
        const store = await PostgresStore.open(database.url, { clock });
        stopLater(() => store.close());
        const scheduler = new RetentionScheduler({
          store: store.retention,
          clock,
          service: {
            runScheduled: async ({ name }) => {
              runs.push(`${new Date(clock.nowMs).toISOString().slice(0, 10)} ${name}`);
              return { worker: String(number) } as PurgeRecord;
            },
          },
          onEnabled: () => {},
          onError: (error) => errors.push(error),
        });
        stopLater(() => scheduler.stop());
        return { store, scheduler };
      }),
    );
    const [first] = sidecars;
    assert.ok(first !== undefined);
    for (const name of NAMES)
      await first.store.retention.put({
        name,
        settings: settingsOf({ schedule: '30 2 * * *', mode: 'report' }),
        author: { caller: 'ada', policy: {} },
      });
    for (const { scheduler } of sidecars) scheduler.start();
    const expected: string[] = [];
    for (let day = 1; day <= 10; day += 1) {
      await clock.allAsleep(sidecars.length);
      assert.deepEqual(runs.toSorted(), expected);
      clock.nowMs = START + day * DAY_MS;
      const date = new Date(clock.nowMs).toISOString().slice(0, 10);
      expected.push(...NAMES.map((name) => `${date} ${name}`));
      clock.wakeAll();
    }
    await clock.allAsleep(sidecars.length);
    assert.deepEqual(runs.toSorted(), expected);
    assert.deepEqual(errors, []);
  });
});
