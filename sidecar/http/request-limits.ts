import type { IncomingMessage } from 'node:http';
import type { ProblemDraft } from './forward-problem.js';
import { isPlainlyFramed, type RawHeaders } from './hop-by-hop.js';
import { problem } from './problem-kinds.js';

/** What the front door refuses because of its length, its number of header fields, or fields that are ambiguous or missing. */

/** Far more than any client or proxy sends. */
export const MAX_FIELDS = 500;

/** Most characters of the path of a request: every router decodes it in its own way, and no resource has a longer one. */
const MAX_PATH_CHARS = 8 * 1024;

/** Most characters of path and query that this gateway reads: some hundred ids. What only the broker reads, it limits itself. */
const MAX_TARGET_CHARS = 16 * 1024;

/**
 * Fields that select whose data a request is for, or authorise it. Of two such fields, servers take the first, the last,
 * or both joined by a comma; some take an empty tenant for the default tenant.
 */
const SINGLE: ReadonlySet<string> = new Set([
  ...['ngsild-tenant', 'fiware-service', 'fiware-servicepath', 'ngsild-snapshot', 'ngsild-entitymap'],
  ...['authorization', 'x-auth-token', 'x-gateway-token', 'x-purge-policy'],
]);

const TOO_MANY = problem('fieldsTooLarge', `The request has more than ${MAX_FIELDS} header fields.`);

const REPEATED_HOST = problem(
  'invalidRequest',
  'The request has more than one Host header (RFC 9112, section 3.2).',
);

const NO_HOST = problem('invalidRequest', 'The request has no Host header (RFC 9112, section 3.2).');

const OTHER_VERSION = problem(
  'invalidRequest',
  'This is neither an HTTP/1.1 nor an HTTP/1.0 request: its request line names another version.',
);

/** HTTP/1.0 is the default of some proxies. */
const VERSIONS: ReadonlySet<string> = new Set(['1.1', '1.0']);

const CODING_IN_HTTP_1_0 = problem(
  'invalidRequest',
  'The request has a Transfer-Encoding, which HTTP/1.0 does not know (RFC 9112, section 6.1). Send it as HTTP/1.1, or with a Content-Length.',
);

const UNKNOWN_CODING = problem(
  'transferCoding',
  'The only transfer coding accepted here is chunked (RFC 9112, section 6.1).',
);

/** The problem of a request with too many header fields, or with an ambiguous one; undefined for every other request. */
export function faultyFields(raw: RawHeaders): ProblemDraft | undefined {
  if (raw.length > 2 * MAX_FIELDS) return TOO_MANY;
  let seen: Set<string> | undefined;
  let hasHost = false;
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (name === 'host') {
      if (hasHost) return REPEATED_HOST;
      hasHost = true;
    }
    if (!SINGLE.has(name)) continue;
    seen ??= new Set();
    if ((raw[index + 1] ?? '').trim() === '') return ambiguous(raw[index] ?? '', 'is empty');
    if (seen.has(name)) return ambiguous(raw[index] ?? '', 'is given more than once');
    seen.add(name);
  }
  return undefined;
}

/**
 * The problem of a request with another version of HTTP, without the Host that HTTP/1.1 requires, or with an end that servers may
 * see in different places; undefined for every other request.
 */
export function faultyMessage({
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): ProblemDraft | undefined {
  if (!VERSIONS.has(httpVersion)) return OTHER_VERSION;
  if (headers.host === undefined && httpVersion === '1.1') return NO_HOST;
  if (isMisframed({ httpVersion, headers })) return CODING_IN_HTTP_1_0;
  return isPlainlyFramed(headers['transfer-encoding']) ? undefined : UNKNOWN_CODING;
}

/**
 * True if nobody can know where a request ends, because servers of HTTP/1.0 ignore Transfer-Encoding. What follows on its
 * connection must not be read as a request (RFC 9112 § 6.1).
 */
export function isMisframed({
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): boolean {
  return httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined;
}

function ambiguous(name: string, fault: string): ProblemDraft {
  const detail = `The header field ${name} ${fault}: send it once with a value, or leave it out.`;
  return problem('invalidRequest', detail);
}

/** The problem of a target whose path is too long, wherever it leads (RFC 9110 § 15.5.15); undefined for every other. */
export function longPath(target: string): ProblemDraft | undefined {
  if (target.length <= MAX_PATH_CHARS) return undefined;
  const end = target.indexOf('?');
  return end > MAX_PATH_CHARS || end === -1
    ? problem('uriTooLong', `The path of the request is longer than ${MAX_PATH_CHARS} bytes.`)
    : undefined;
}

/** The problem of a target that is too long for the gateway to read; undefined for every other. */
export function longTarget(target: string): ProblemDraft | undefined {
  if (target.length <= MAX_TARGET_CHARS) return undefined;
  return problem(
    'uriTooLong',
    `Path and query of the request together are longer than ${MAX_TARGET_CHARS} bytes. Send a long list of ids in several requests, or POST it to /ngsi-ld/v1/entityOperations/delete.`,
  );
}
