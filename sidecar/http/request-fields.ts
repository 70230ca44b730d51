import { errorTypes } from '../ngsi-ld/problem.js';
import type { ProblemDraft } from './forward-problem.js';
import type { RawHeaders } from './hop-by-hop.js';

/** Far more than any client or proxy sends. */
export const FIELDS_MAX = 500;

/**
 * Fields that select whose data a request is for, or authorise it. Of two of them, servers take the first, the last, or both
 * joined by a comma; an empty tenant is the default tenant to some.
 */
const SINGLE: ReadonlySet<string> = new Set([
  ...['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'ngsild-snapshot', 'ngsild-entitymap'],
  ...['authorization', 'x-auth-token', 'x-gateway-token', 'x-purge-policy'],
]);

const TOO_MANY: ProblemDraft = {
  type: errorTypes.invalidRequest,
  title: 'Request Header Fields Too Large',
  status: 431,
  detail: `The request has more than ${FIELDS_MAX} header fields.`,
};

/** The problem of a request whose header fields are too many, or leave open whom it is for; undefined for every other. */
export function faultyFields(raw: RawHeaders): ProblemDraft | undefined {
  if (raw.length > 2 * FIELDS_MAX) return TOO_MANY;
  let seen: Set<string> | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!SINGLE.has(name)) continue;
    seen ??= new Set();
    if ((raw[index + 1] ?? '').trim() === '') return unclear(raw[index] ?? '', 'is empty');
    if (seen.has(name)) return unclear(raw[index] ?? '', 'is given more than once');
    seen.add(name);
  }
  return undefined;
}

function unclear(name: string, fault: string): ProblemDraft {
  return {
    type: errorTypes.invalidRequest,
    title: 'Invalid request',
    status: 400,
    detail: `The header field ${name} ${fault}: send it once with a value, or leave it out.`,
  };
}
