import { StoreUnavailableError } from '../../sidecar/store/errors.js';
import { openDatabase } from '../../sidecar/store/open-database.js';
import type { PurgeRecord, Jobs } from '../../sidecar/store/index.js';
import { SqlPlans } from '../../sidecar/store/sql-plans.js';
import { SqlJobs } from '../../sidecar/store/sql-jobs.js';
import { SqliteSession } from '../../sidecar/store/sqlite-session.js';
import { systemClock } from '../../sidecar/shared/clock.js';

/** The purges in a database in memory, which can be made unavailable. */
export class KeptPurges {
  isAway = false;
  /** Awaited before each call is executed. */
  before: (name: string) => Promise<void> | undefined = () => undefined;
  /** The calls so far, with their arguments. */
  readonly calls: { readonly name: string; readonly given: readonly unknown[] }[] = [];
  readonly store: Jobs;
  readonly plans: SqlPlans;

  constructor(clock = systemClock) {
    const session = new SqliteSession(openDatabase(':memory:'), clock);
    const kept = new SqlJobs(session);
    this.plans = new SqlPlans(session);
    this.store = new Proxy<Jobs>(kept, {
      get: (_target, name: keyof SqlJobs) => {
        return async (...given: unknown[]) => {
          this.calls.push({ name, given });
          const wait = this.before(name);
          if (wait !== undefined) await wait;
          if (this.isAway) throw new StoreUnavailableError('The database is away.');
          return Reflect.apply(kept[name] as (...all: unknown[]) => unknown, kept, given);
        };
      },
    });
  }

  /** Returns all records, oldest first. */
  async records(): Promise<readonly PurgeRecord[]> {
    const isAway = this.isAway;
    this.isAway = false;
    const { items } = await this.store.list({ limit: 1000, offset: 0 });
    this.isAway = isAway;
    return items.toReversed() as readonly PurgeRecord[];
  }
}
