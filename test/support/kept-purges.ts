import { StoreUnavailableError } from '../../sidecar/store/errors.js';
import { openDatabase } from '../../sidecar/store/open-database.js';
import type { PurgeQueue, PurgeRecord, Purges } from '../../sidecar/store/purge-records.js';
import { SqlPurges } from '../../sidecar/store/sql-purges.js';
import { SqliteSession } from '../../sidecar/store/sqlite-session.js';
import { systemClock } from '../../sidecar/shared/clock.js';

/** The purges of a database in memory, which can be away. */
export class KeptPurges {
  isAway = false;
  /** Waited for before a call is carried out. */
  before: (name: string) => Promise<void> | undefined = () => undefined;
  /** What was called, with what. */
  readonly calls: { readonly name: string; readonly given: readonly unknown[] }[] = [];
  readonly store: Purges & PurgeQueue;

  constructor(clock = systemClock) {
    const kept = new SqlPurges(new SqliteSession(openDatabase(':memory:'), clock));
    this.store = new Proxy<Purges & PurgeQueue>(kept, {
      get: (_target, name: keyof SqlPurges) => {
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

  /** All records, the oldest first. */
  async records(): Promise<readonly PurgeRecord[]> {
    const isAway = this.isAway;
    this.isAway = false;
    const { items } = await this.store.list({ limit: 1000, offset: 0 });
    this.isAway = isAway;
    return items.toReversed();
  }
}
