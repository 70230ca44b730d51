import { cutoffOf, olderThan } from '../../purge/index.js';
import type { PurgeRecord } from '../../store/purge-records.js';
import type { RetentionSettings } from '../../store/retention-records.js';
import { optionParameters, optionsIn, optionsOf } from '../../shared/purge-options.js';
import { refusedMember } from './schedule.js';

/** The purge that a run of a policy is. */
export interface RetentionQuery {
  /** What is older than it goes: ISO 8601, in UTC. */
  readonly cutoff: string;
  /** A query string; without what only says how it is to be run. */
  readonly query: string;
}

/** Members of a policy that are parameters of a purge, and its mode; they have one place. */
const MEMBERS = ['dryRun', ...optionsIn('retention')];

/** Runs whose matches say what is usual, at most. */
export const USUAL_RUNS = 5;

/**
 * What a run that starts now purges.
 *
 * @throws QueryRefusedError naming the member or the parameter that is wrong
 */
export function retentionQuery(settings: RetentionSettings, nowMs: number): RetentionQuery {
  const { target, by, olderThan: age, timeZone } = settings;
  for (const name of MEMBERS) {
    if (new URLSearchParams(settings.query).has(name))
      throw refusedMember(
        'query',
        `${name} is not a part of the query of a retention policy: ${adviceOn(name)}.`,
      );
  }
  const cutoff = cutoffOf(nowMs, age, timeZone);
  return { cutoff, query: olderThan(settings.query, { target, by }, cutoff) };
}

function adviceOn(name: string): string {
  return name === 'dryRun' ? 'set mode to report' : `set the member ${name}`;
}

/** The query string of a run. @param isReport nothing is deleted */
export function runQuery(settings: RetentionSettings, query: string, isReport: boolean): string {
  // A report counts all matches, and deletes none at any rate.
  const options = isReport ? { dryRun: true } : optionsOf('retention', settings);
  return [query, ...optionParameters(options)].join('&');
}

/** The runs that say what is usual. @param runs of a policy, the newest first */
export function usualRuns(runs: readonly PurgeRecord[]): readonly PurgeRecord[] {
  return runs.filter((run) => hasEnded(run) && !isHeldBack(run)).slice(0, USUAL_RUNS);
}

function hasEnded({ state }: PurgeRecord): boolean {
  return state === 'succeeded' || state === 'partial';
}

/** Whether the guard made a report of a run. A report that was asked for has a query that says so. */
function isHeldBack({ dryRun, query }: PurgeRecord): boolean {
  return dryRun && !new URLSearchParams(query).has('dryRun');
}

/**
 * How many matches a run may have before it becomes a report: `maxGrowth` times the median of the last runs. Runs that became
 * reports do not count: the guard would lift itself after some of them, and nobody had looked.
 *
 * @param runs of the policy, the newest first
 * @returns undefined without a guard, and while there is nothing to compare with
 */
export function usualMost(maxGrowth: number, runs: readonly PurgeRecord[]): number | undefined {
  const ended = runs.filter(hasEnded);
  if (maxGrowth === 0 || ended.length === 0) return undefined;
  const matches = usualRuns(ended)
    .map(({ matched }) => matched)
    .toSorted((one, other) => one - other);
  // What was usual is no longer in the history. What the guard held back stays held back.
  if (matches.length === 0) return 0;
  const middle = matches.length / 2;
  const median = ((matches[Math.ceil(middle) - 1] ?? 0) + (matches[Math.floor(middle)] ?? 0)) / 2;
  return Math.floor(maxGrowth * median);
}
