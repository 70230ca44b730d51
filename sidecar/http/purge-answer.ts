import { errorTypes, type Problem } from '../ngsi-ld/problem.js';
import type { PurgeReport } from '../purge/events.js';

/** The answer to a purge that ran to its end. */
export interface PurgeAnswer {
  readonly status: 200 | 204 | 207;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface BatchEntityError {
  readonly entityId: string;
  readonly error: Problem;
}

/** Items that a list of the answer holds at most. */
const ERRORS_MAX = 1000;

/** Longer heads than this many kilobytes are refused by some clients. */
const WARNING_MAX_CHARS = 2000;

/**
 * Turns the report of a purge into its answer: 200 for a dry run or on request, 204 when all is gone, 207 with a
 * BatchOperationResult (clause 5.2.16) when something stayed or the broker's result was incomplete.
 *
 * @param wantsRepresentation the client sent `Prefer: return=representation` (RFC 7240 § 4.2)
 */
export function purgeAnswer(
  report: PurgeReport,
  durationMs: number,
  wantsRepresentation: boolean,
): PurgeAnswer {
  const { matched, deleted, failed, requests, warnings } = report;
  const headers: Record<string, string> = {
    'purge-matched': String(matched),
    ...(warnings.length === 0 ? {} : { 'ngsild-warning': warnings.join(', ').slice(0, WARNING_MAX_CHARS) }),
  };
  if (report.dryRun) return { status: 200, headers, body: { matched, sample: report.sample } };

  headers['purge-deleted'] = String(deleted);
  headers['purge-failed'] = String(failed);
  if (report.arrived > 0) headers['purge-arrived'] = String(report.arrived);
  const summary = { matched, deleted, failed, durationMs, requests };
  if (wantsRepresentation) headers['preference-applied'] = 'return=representation';
  if (failed > 0 || warnings.length > 0) {
    const errors = [...warnings.map(incomplete), ...errorsOf(report)].slice(0, ERRORS_MAX);
    const result = { success: report.success, errors };
    return { status: 207, headers, body: wantsRepresentation ? { ...result, ...summary } : result };
  }
  return wantsRepresentation ? { status: 200, headers, body: summary } : { status: 204, headers };
}

function errorsOf(report: PurgeReport): readonly BatchEntityError[] {
  return report.errors.map(({ entityId, attribute, error }) => ({
    entityId,
    error: attribute === undefined ? error : { ...error, attribute },
  }));
}

/** A context source is missing from the broker's result: what it holds may not have been listed, nor deleted. */
function incomplete(warning: string): BatchEntityError {
  return {
    entityId: 'urn:ngsi-ld:*',
    error: {
      type: errorTypes.internalError,
      title: 'The result of the query was incomplete',
      status: 502,
      detail: `The broker warned: ${warning.slice(0, 500)}. Matches it could not list may remain.`,
    },
  };
}
