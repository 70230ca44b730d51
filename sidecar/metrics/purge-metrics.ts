import { Counter, type Registry } from '@prometheus-io/client';

const TARGETS = ['entities', 'temporal'] as const;
const OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'] as const;
const RESULTS = {
  deleted: 'deleted',
  alreadyGone: 'already_gone',
  failed: 'failed',
  unknown: 'unknown',
} as const;

/** Which collection a purge is of. */
export type PurgeTarget = (typeof TARGETS)[number];

/** How a purge ended: the final states of its record. */
export type PurgeOutcome = (typeof OUTCOMES)[number];

/** What became of the items of a purge; a report of the engine is one. */
export interface PurgeResult {
  /** Nothing was to be deleted. @default false */
  readonly dryRun?: boolean;
  readonly deleted: number;
  readonly alreadyGone: number;
  readonly failed: number;
  readonly unknown: number;
}

/** Records every purge, however it was started. Never throws. */
export interface PurgeMetrics {
  /** A purge begins to work. */
  started(target: PurgeTarget): void;
  /** It has ended; one that was refused before it began to work was not started. Its counts are added once, here. */
  ended(target: PurgeTarget, outcome: PurgeOutcome, result: PurgeResult): void;
  /** A request of a purge is sent once more. */
  retried(): void;
  /** The record of a purge could not be kept. */
  recordLost(): void;
  /** A segment of an archive could not be stored. */
  archiveFailed(): void;
}

/** Counters of purges; each that can be named beforehand is there from the start, so that its first increase shows. */
export function createPurgeMetrics(registry: Registry, prefix: string): PurgeMetrics {
  const registers = [registry];
  const started = new Counter({
    name: `${prefix}purges_started_total`,
    help: 'Purges that began to work, dry runs included, by target (entities, temporal).',
    labelNames: ['target'],
    registers,
  });
  const ended = new Counter({
    name: `${prefix}purges_total`,
    help: 'Purges that have ended, by target, outcome and whether they were dry runs.',
    labelNames: ['target', 'outcome', 'dry_run'],
    registers,
  });
  const items = new Counter({
    name: `${prefix}purge_items_total`,
    help: 'What became of the items of purges that have ended (entities, attributes, datasets or instances).',
    labelNames: ['target', 'result'],
    registers,
  });
  const retries = new Counter({
    name: `${prefix}purge_retries_total`,
    help: 'Requests of purges that were sent once more.',
    registers,
  });
  const lost = new Counter({
    name: `${prefix}purge_records_lost_total`,
    help: 'Records of purges that could not be kept, since the store was away for too long.',
    registers,
  });
  const archiveFailures = new Counter({
    name: `${prefix}archive_failures_total`,
    help: 'Segments of archives that could not be stored; what they hold is not deleted where an archive is required.',
    registers,
  });
  for (const target of TARGETS) {
    started.inc({ target }, 0);
    for (const outcome of OUTCOMES) ended.inc({ target, outcome, dry_run: 'false' }, 0);
    for (const result of Object.values(RESULTS)) items.inc({ target, result }, 0);
  }
  return {
    started: (target) => started.inc({ target }),
    ended(target, outcome, result) {
      ended.inc({ target, outcome, dry_run: String(result.dryRun ?? false) });
      if (result.dryRun === true) return;
      for (const [member, label] of entriesOf(RESULTS)) items.inc({ target, result: label }, result[member]);
    },
    retried: () => retries.inc(),
    recordLost: () => lost.inc(),
    archiveFailed: () => archiveFailures.inc(),
  };
}

function entriesOf<Key extends string, Value>(table: Readonly<Record<Key, Value>>): readonly [Key, Value][] {
  return Object.entries(table) as [Key, Value][];
}
