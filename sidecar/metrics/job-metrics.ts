import { createPolicyLabel, type Instruments } from './instruments.js';

const TARGETS = ['entities', 'temporal'] as const;
const OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'] as const;
const RUN_OUTCOMES = [...OUTCOMES, 'held_back', 'skipped', 'not_begun'] as const;

/** The collection that a purge deletes from. */
type Target = (typeof TARGETS)[number];

/** How a job ended: the final states of its record. */
type Outcome = (typeof OUTCOMES)[number];

/** Labels for the results of items, by the member that counts them. */
const PURGE_RESULTS = {
  deleted: 'deleted',
  alreadyGone: 'already_gone',
  failed: 'failed',
  unknown: 'unknown',
} as const;
const RESTORE_RESULTS = {
  restored: 'restored',
  alreadyThere: 'already_there',
  failed: 'failed',
  unknown: 'unknown',
} as const;
const VERDICTS = { valid: 'valid', invalid: 'invalid', notJudged: 'not_judged' } as const;

/** Counts of items; a dry run has not touched them. */
type Result<Member extends string> = { readonly [Name in Member]?: number } & { readonly dryRun?: boolean };

export type PurgeMetrics = ReturnType<typeof createPurgeMetrics>;

/**
 * Creates the counters of all purges and restores, however they were started. Counters with known labels exist from the
 * start, so that their first increase is visible. Nothing here throws.
 */
export function createPurgeMetrics(instruments: Instruments) {
  const started = instruments.counter(
    'purges_started_total',
    'Purges that started, including dry runs, by target (entities, temporal).',
    ['target'],
  );
  const ended = instruments.counter(
    'purges_total',
    'Purges that have ended, by target, outcome and whether they were dry runs.',
    ['target', 'outcome', 'dry_run'],
  );
  const items = instruments.counter(
    'purge_items_total',
    'Items of purges that have ended (entities, attributes, datasets or instances), by target and result.',
    ['target', 'result'],
  );
  const deletes = instruments.counter(
    'purge_deletes_total',
    'Items deleted by purges, counted while they run (entities, attributes, datasets or instances).',
    ['target'],
  );
  const retries = instruments.counter('purge_retries_total', 'Requests of purges that were retried.');
  const lost = instruments.counter(
    'purge_records_lost_total',
    'Records of purges that could not be stored, because the store was unavailable for too long.',
  );
  const archiveFailures = instruments.counter(
    'archive_failures_total',
    'Segments of archives that could not be stored; if an archive is required, what they contain is not deleted.',
  );
  const restores = instruments.counter(
    'restores_total',
    'Restores that have ended, by outcome and whether they were dry runs.',
    ['outcome', 'dry_run'],
  );
  const restoredItems = instruments.counter(
    'restore_items_total',
    'Items of restores that have ended (entities, attributes or instances), by result.',
    ['result'],
  );
  for (const outcome of OUTCOMES) restores.inc({ outcome, dry_run: 'false' }, 0);
  for (const result of Object.values(RESTORE_RESULTS)) restoredItems.inc({ result }, 0);
  for (const target of TARGETS) {
    started.inc({ target }, 0);
    deletes.inc({ target }, 0);
    for (const outcome of OUTCOMES) ended.inc({ target, outcome, dry_run: 'false' }, 0);
    for (const result of Object.values(PURGE_RESULTS)) items.inc({ target, result }, 0);
  }
  return {
    /** Called when a purge starts to run. */
    started: (target: Target) => started.inc({ target }),
    /** Called when a purge has deleted items; it may still be running. */
    deleted: (target: Target, count: number) => deletes.inc({ target }, count),
    /**
     * Called when a purge has ended; if it was refused before running, `started` was not called. Its counts are added
     * here, once.
     */
    ended(target: Target, outcome: Outcome, result: Result<keyof typeof PURGE_RESULTS>) {
      ended.inc({ target, outcome, dry_run: String(result.dryRun ?? false) });
      addItems(PURGE_RESULTS, result, (label, count) => items.inc({ target, result: label }, count));
    },
    /** Called when a request of a purge is retried. */
    retried: () => retries.inc(),
    /** Called when the record of a purge could not be stored. */
    recordLost: () => lost.inc(),
    /** Called when a restore has ended; it may have been a dry run. */
    restored(outcome: Outcome, result: Result<keyof typeof RESTORE_RESULTS>) {
      restores.inc({ outcome, dry_run: String(result.dryRun ?? false) });
      addItems(RESTORE_RESULTS, result, (label, count) => restoredItems.inc({ result: label }, count));
    },
    /** Called when a segment of an archive could not be stored. */
    archiveFailed: () => archiveFailures.inc(),
  };
}

function addItems<Member extends string>(
  labels: Readonly<Record<Member, string>>,
  result: Result<Member>,
  add: (label: string, count: number) => void,
): void {
  if (result.dryRun === true) return;
  for (const [member, label] of Object.entries(labels) as [Member, string][]) add(label, result[member] ?? 0);
}

/** Creates the counters of scans. All exist from the start, so that their first increase is visible. */
export function createScanMetrics(instruments: Instruments) {
  const ended = instruments.counter('scan_ended_total', 'Scans that have ended, by outcome.', ['outcome']);
  const entities = instruments.counter(
    'scan_entities_total',
    'Entities of scans that have ended, by verdict (valid, invalid, not_judged).',
    ['verdict'],
  );
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0);
  for (const verdict of Object.values(VERDICTS)) entities.inc({ verdict }, 0);
  return {
    /** Called when a scan has ended. Its counts are added here, once. */
    ended(outcome: Outcome, counts: Readonly<Record<keyof typeof VERDICTS, number>>) {
      ended.inc({ outcome });
      addItems(VERDICTS, counts, (verdict, count) => entities.inc({ verdict }, count));
    },
  };
}

/** Creates the counters of runs. Counters of a policy that is not enabled exist only after its first run. */
export function createRetentionMetrics(instruments: Instruments) {
  const runs = instruments.counter(
    'retention_runs_total',
    'Runs of retention policies that have ended, or that did not start, by policy and outcome.',
    ['policy', 'outcome'],
  );
  const lastSuccess = instruments.gauge(
    'retention_last_success_timestamp_seconds',
    'When a run of the policy last succeeded in this process, in seconds since 1970.',
    ['policy'],
  );
  const labelOf = createPolicyLabel();
  return {
    /** Called when a policy is enabled: creates the counters of all its outcomes, so that the first increase of each is visible. */
    enabled(name: string) {
      const policy = labelOf(name);
      for (const outcome of RUN_OUTCOMES) runs.inc({ policy, outcome }, 0);
    },
    /**
     * Called for each run.
     *
     * @param outcome `held_back`: it only reported, because it had far more matches than usual; `skipped`: the previous
     * run had not ended; `not_begun`: it could not start
     */
    ran(name: string, outcome: (typeof RUN_OUTCOMES)[number]) {
      const policy = labelOf(name);
      runs.inc({ policy, outcome });
      if (outcome === 'succeeded') lastSuccess.set({ policy }, Date.now() / 1000);
    },
  };
}
