import assert from 'node:assert/strict';
import type { PurgeRecord, Jobs } from '../../sidecar/store/index.js';
import { purgeRecord } from './store-contract-purges.js';

const run = (id: string, query: string, members: Partial<PurgeRecord> = {}): PurgeRecord =>
  purgeRecord(id, 'succeeded', { query, retentionPolicy: 'old', ...members });

/** Purges in the first format, in which records do not say that a run was held back. */
const RECORDS: readonly PurgeRecord[] = [
  run('usual', 'q=name==%22"dryRun":true%22&maxAffected=5'),
  run('held', 'type=Car&maxAffected=5', { dryRun: true, warnings: ["It matches 900. \0 It's held."] }),
  run('report', 'type=Car&dryRun=true', { dryRun: true, policy: { dryRunOnly: true } }),
  purgeRecord('by hand', 'succeeded', { dryRun: true }),
];

/** Statements that insert the runs of a policy into a database of the first format. */
export const RUNS_OF_FIRST_FORMAT = RECORDS.map(
  (record) => `
    INSERT INTO purge (id, state, tenant, caller, retention_policy, ended_at, record, dry_run) VALUES
    ('${record.id}', '${record.state}', '', 'ada', ${record.retentionPolicy === undefined ? 'NULL' : "'old'"}, 1,
      '${JSON.stringify(record).replaceAll("'", "''")}', ${record.dryRun ? 1 : 0});`,
).join('');

/** Checks that the run that was held back is marked as such after the migration, and comes last. */
export async function checkHeldBack(purges: Jobs): Promise<void> {
  const [usual, held, report, byHand] = RECORDS;
  const runs = await purges.completedRuns('old', 9);
  assert.deepEqual(runs, [report, usual, { ...held, heldBack: true }]);
  assert.deepEqual(await purges.get('by hand'), byHand);
}
