import { ApiError } from '../api/client.js';
import { useDebounced, useLoad } from '../shared/hooks.js';
import type { ChangeReport, ModelKey, ModelDryRun } from './models-api.js';
import { dryRunWrite, type Expected, type ModelWrite } from './model-write.js';

/** What a write would do, as far as known. */
export interface DryRun {
  /** Whether it belongs to the current write; otherwise the check is still in progress. */
  readonly isCurrent: boolean;
  readonly found: ModelDryRun | undefined;
  readonly error: unknown;
}

/**
 * Checks what a write would do, whenever it has not changed for a while.
 *
 * @param write undefined if there is nothing to check
 */
export function useDryRun(key: ModelKey | undefined, write: ModelWrite | undefined, expected: Expected) {
  const wanted = key && write && JSON.stringify([key, write, expected]);
  const settled = useDebounced(wanted);
  const { last, error, isLoading, reload } = useLoad(settled, (signal) =>
    dryRunWrite(...(JSON.parse(settled ?? '') as [ModelKey, ModelWrite, Expected]), signal),
  );
  const dryRun: DryRun =
    wanted === undefined
      ? { isCurrent: false, found: undefined, error: undefined }
      : { isCurrent: wanted === settled && !isLoading, found: last, error };
  return { dryRun, retry: reload };
}

/** Returns the report of a change that was refused (409). */
export function refusedReport(error: unknown): ChangeReport | undefined {
  if (!(error instanceof ApiError) || error.problem.status !== 409) return undefined;
  const { report } = error.problem;
  return typeof report === 'object' && report !== null && 'differences' in report
    ? (report as ChangeReport)
    : undefined;
}
