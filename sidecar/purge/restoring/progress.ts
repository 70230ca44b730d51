import type { Problem } from '../../ngsi-ld/problem.js';
import type { OutageEvent } from '../requests/index.js';

/** What became of the items of an archive. At the end, the other four add up to `matched`. */
interface RestoreCounts {
  readonly matched: number;
  /** Created again; in a dry run, those that would be. */
  readonly restored: number;
  /** There before: left as they are. */
  readonly alreadyThere: number;
  readonly failed: number;
  /** A create was sent, with unknown effect. */
  readonly unknown: number;
  /** Of a dry run: those of `alreadyThere` that say something else than the archive. */
  readonly different: number;
}

/** How far a restore is: everything before a line is settled, and counted. */
export interface RestorePosition extends RestoreCounts {
  /** Lines of the archive before it are settled. */
  readonly line: number;
  /** The page that was about to be created. */
  readonly begun?: {
    readonly lines: number;
    /** Which of its items were missing: a bit for each, in their order, in base64. */
    readonly missing: string;
  };
}

/** An item that could not be restored. */
export interface RestoreError {
  readonly entityId: string;
  readonly attribute?: string;
  readonly error: Problem;
}

export interface RestoreReport extends RestoreCounts {
  readonly dryRun: boolean;
  /** At most 100. */
  readonly errors: readonly RestoreError[];
  /** Ids of entities that were there before, or of which something was; at most 100. In a dry run, the different ones first. */
  readonly sample: readonly string[];
  readonly requests: number;
  readonly retries: number;
  /** Ids that were asked for, and that the archive has not shown so far. */
  readonly absent: readonly string[];
}

/** News of a restore, in order. */
export type RestoreEvent = ({ readonly type: 'progress' } & RestoreReport) | OutageEvent;

export const NOTHING_RESTORED: RestorePosition = {
  line: 0,
  matched: 0,
  restored: 0,
  alreadyThere: 0,
  failed: 0,
  unknown: 0,
  different: 0,
};
