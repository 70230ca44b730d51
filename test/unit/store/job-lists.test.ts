import assert from 'node:assert/strict';
import { it } from 'node:test';
import type Database from 'better-sqlite3';
import type { JobFilter } from '../../../sidecar/store/index.js';
import { openDatabase } from '../../../sidecar/store/open-database.js';
import { SqlJobs } from '../../../sidecar/store/sql-jobs.js';
import { SqliteSession } from '../../../sidecar/store/sqlite-session.js';
import { purgeRecord } from '../../support/store-contract-purges.js';
import { handClock } from '../../support/store-samples.js';

const FILTERS: Omit<JobFilter, 'limit' | 'offset'> = {
  kind: 'purge',
  state: 'failed',
  tenant: 'madrid',
  tenants: new Set(['madrid', 'paris']),
  caller: 'ada',
  dryRun: true,
  since: 1,
  until: 2,
  type: 'Car',
};

it('lists of jobs in SQLite read only the rows of their page, whatever they are filtered by, except a text or a policy', async (t) => {
  const db = openDatabase(':memory:');
  t.after(() => db.close());
  const read = plansOf(db);
  const session = new SqliteSession(db, handClock());
  await new SqlJobs(session).put(purgeRecord('a', 'succeeded'));
  for (const filter of [
    {},
    FILTERS,
    ...Object.entries(FILTERS).map(([name, value]) => ({ [name]: value })),
  ]) {
    read.length = 0;
    await new SqlJobs(session).list({ ...filter, limit: 10, offset: 0 });
    const scans = read.filter((step) => /^(?:SCAN|SEARCH) job\b/.test(step));
    const [page, ...others] = scans;
    assert.equal(page, 'SEARCH job USING INTEGER PRIMARY KEY (rowid=?)');
    assert.equal(others.length, 2, 'the numbers of the page, and the count');
    for (const step of others) assert.match(step, /USING COVERING INDEX/, Object.keys(filter).join());
  }
});

/** Returns a list that gets the steps of SQLite's plan for each SELECT that is prepared from now on. */
function plansOf(db: Database.Database): string[] {
  const steps: string[] = [];
  const prepare = db.prepare.bind(db);
  const recording = (sql: string) => {
    const prepared = prepare(sql);
    if (prepared.reader && sql.includes('FROM job')) {
      const explained = prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/@\w+/g, 'NULL')}`);
      steps.push(...explained.all().map((row) => (row as { readonly detail: string }).detail));
    }
    return prepared;
  };
  db.prepare = recording as typeof db.prepare;
  return steps;
}
