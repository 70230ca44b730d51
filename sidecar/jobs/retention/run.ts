import { cutoffOf, olderThan, type PurgeParameters } from '../../purge/index.js';
import { optionsIn, optionsOf } from '../../shared/purge-options.js';
import type { PurgeRecord, RetentionSettings } from '../../store/index.js';
import { refusedMember } from './schedule.js';

/** What a run of a policy purges. */
export interface RetentionSelection {
  /** What is older than it goes: ISO 8601, in UTC. */
  readonly cutoff: string;
  /** Without what only says how it is to be run. */
  readonly query: PurgeParameters;
}

/** Members of a policy that are parameters of a purge; they have one place. */
const MEMBERS = ['dryRun', ...optionsIn('retention')];

/** Runs whose matches say what is usual, at most. */
export const USUAL_RUNS = 5;

/**
 * What a run that starts now purges.
 *
 * @throws QueryRefusedError naming the member or the parameter that is wrong
 */
export function retentionSelection(settings: RetentionSettings, nowMs: number): RetentionSelection {
  const { target, by, olderThan: age, timeZone } = settings;
  const cutoff = cutoffOf(nowMs, age, timeZone);
  const query = olderThan(settings.query, { target, by }, cutoff);
  const member = MEMBERS.find((name) => query.has(name));
  if (member === undefined) return { cutoff, query };
  const advice = member === 'dryRun' ? 'set mode to report' : `set the member ${member}`;
  throw refusedMember('query', `${member} is not a part of the query of a retention policy: ${advice}.`);
}

/** The query of a run. @param isReport nothing is deleted */
export function runQuery(
  settings: RetentionSettings,
  query: PurgeParameters,
  isReport: boolean,
): PurgeParameters {
  // A report counts all matches, and deletes none at any rate.
  const options = isReport ? { dryRun: true } : optionsOf('retention', settings);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return new Map([...query, ...given.map(([name, value]) => [name, String(value)] as const)]);
}

/**
 * How many matches a run may have before it becomes a report: `maxGrowth` times the median of the last runs. Runs that were held
 * back do not count: the guard would lift itself after some of them, and nobody had looked.
 *
 * @param runs of the policy that were completed: see Purges.completedRuns
 * @returns undefined while there is nothing to compare with
 */
export function usualMost(
  maxGrowth: number,
  runs: readonly Pick<PurgeRecord, 'matched' | 'heldBack'>[],
): number | undefined {
  if (runs.length === 0) return undefined;
  const matches = runs
    .filter(({ heldBack }) => heldBack !== true)
    .map(({ matched }) => matched)
    .toSorted((one, other) => one - other);
  // What was usual is no longer in the history. What the guard held back stays held back.
  if (matches.length === 0) return 0;
  const middle = matches.length / 2;
  const median = ((matches[Math.ceil(middle) - 1] ?? 0) + (matches[Math.floor(middle)] ?? 0)) / 2;
  return Math.floor(maxGrowth * median);
}
