import { errorTypes } from '../ngsi-ld/problem.js';
import type { ProblemDraft } from './forward-problem.js';

/** What request-targets may have in characters, which are bytes on the wire. */
export const TARGET_LIMITS = {
  /** No resource has a longer path, and every router decodes it in its own way. */
  path: 8 * 1024,
  /** With its query, where this gateway reads it: some hundred ids. What the broker reads is for the broker to bound. */
  read: 16 * 1024,
} as const;

/** The problem of a target whose path is too long, for whomever it is (RFC 9110 § 15.5.15); undefined for every other. */
export function longPath(target: string): ProblemDraft | undefined {
  const { path } = TARGET_LIMITS;
  if (target.length <= path) return undefined;
  const end = target.indexOf('?');
  return end > path || end === -1
    ? tooLong(`The path of the request is longer than ${path} bytes.`)
    : undefined;
}

/** The problem of a target that is too long for the gateway to read; undefined for every other. */
export function longTarget(target: string): ProblemDraft | undefined {
  const { read } = TARGET_LIMITS;
  if (target.length <= read) return undefined;
  return tooLong(
    `The path and query of this request are longer than ${read} bytes together. Of a long list of ids send some at a time, or POST them to /ngsi-ld/v1/entityOperations/delete.`,
  );
}

function tooLong(detail: string): ProblemDraft {
  return { type: errorTypes.invalidRequest, title: 'URI Too Long', status: 414, detail };
}
