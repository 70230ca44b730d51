import { ApiError } from '../api/client.js';
import { useAsked } from '../shared/use-asked.js';
import type { ChangeReport, ModelKey, ModelTrial } from './models-api.js';
import { tryWrite, type Expected, type ModelWrite } from './model-write.js';

/** How long typing has to pause before the gateway is asked, in milliseconds. */
const PAUSE_MS = 500;

/** What a write would do, as far as is known. */
export interface Trial {
  /** Of the write as it is now; else it is still being checked. */
  readonly isCurrent: boolean;
  readonly found: ModelTrial | undefined;
  readonly error: unknown;
}

/**
 * Checks what a write would do, whenever it has not changed for a while.
 *
 * @param write undefined: there is nothing to check
 */
export function useTrial(key: ModelKey | undefined, write: ModelWrite | undefined, expected: Expected) {
  const asked = key && write && { key, write };
  const { value, again, ...rest } = useAsked(
    asked && JSON.stringify([key, write, expected]),
    async (signal) => asked && tryWrite(asked.key, asked.write, expected, signal),
    { pauseMs: PAUSE_MS, isFirstAtOnce: true },
  );
  const trial: Trial = { ...rest, found: value };
  return { trial, again };
}

/** The report of a change that was refused because of it (409). */
export function refusedReport(error: unknown): ChangeReport | undefined {
  if (!(error instanceof ApiError) || error.problem.status !== 409) return undefined;
  const { report } = error.problem;
  return typeof report === 'object' && report !== null && 'differences' in report
    ? (report as ChangeReport)
    : undefined;
}
