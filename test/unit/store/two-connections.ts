import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Two connections to one new database file, as two processes have; the second never waits for a lock. */
export function twoConnections(t: Pick<TestContext, 'after'>): [Database.Database, Database.Database] {
  const path = join(temporaryFolder(), 'x.db');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  const other = new Database(path, { timeout: 0 });
  t.after(() => {
    other.close();
    db.close();
  });
  return [db, other];
}
