import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { ProblemDraft } from './forward-problem.js';
import { problem } from './refused.js';
import { ownNameCheck } from '../shared/own-names.js';
import { MAX_HOPS, detectLoop } from '../shared/via.js';

/**
 * The checks of the front door that do not depend on the path. They refuse requests that are too long, have too many
 * header fields, or have ambiguous or missing fields; requests that a foreign web page may have sent; and requests in a
 * forwarding loop.
 */

/** Far more fields than any client or proxy sends. */
const MAX_FIELDS = 500;

/**
 * Maximum length of the path of a request: every router decodes it in its own way, and no resource has a longer path.
 */
const MAX_PATH_CHARS = 8 * 1024;

/**
 * Maximum length of path and query that this gateway reads: some hundred ids. What only the broker reads is limited by
 * the broker.
 */
const MAX_TARGET_CHARS = 16 * 1024;

/**
 * Fields that select whose data a request is for, or authorise it. If such a field is repeated, some servers take the
 * first, some the last, and some join both with a comma. Some also treat an empty tenant as the default tenant, or an
 * underscore in a name as a dash.
 */
const SINGLETON_FIELDS: ReadonlySet<string> = new Set([
  'ngsild-tenant',
  'fiware-service',
  'fiware-servicepath',
  'ngsild-snapshot',
  'ngsild-entitymap',
  'authorization',
  'x-auth-token',
  'x-gateway-token',
  'x-purge-policy',
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
  'The request has a Transfer-Encoding, which HTTP/1.0 does not know (RFC ' +
    '9112, section 6.1). Send it as HTTP/1.1, or with a Content-Length.',
);

const UNKNOWN_CODING = problem(
  'transferCoding',
  'The only transfer coding accepted here is chunked (RFC 9112, section 6.1).',
);

/**
 * Returns the problem of a request with too many header fields or an ambiguous one; undefined for any other request.
 */
export function faultyFields(raw: readonly string[]): ProblemDraft | undefined {
  if (raw.length > 2 * MAX_FIELDS) return TOO_MANY;
  let seen: Set<string> | undefined;
  let hasHost = false;
  for (let index = 0; index < raw.length; index += 2) {
    const given = (raw[index] ?? '').toLowerCase();
    const name = given.replaceAll('_', '-');
    if (name === 'host') {
      if (hasHost) return REPEATED_HOST;
      hasHost = true;
    }
    if (!SINGLETON_FIELDS.has(name)) continue;
    if (given !== name) return withUnderscores(raw[index] ?? '');
    seen ??= new Set();
    if ((raw[index + 1] ?? '').trim() === '') return ambiguous(raw[index] ?? '', 'is empty');
    if (seen.has(name)) return ambiguous(raw[index] ?? '', 'is given more than once');
    seen.add(name);
  }
  return undefined;
}

/**
 * Returns the problem of a request with another version of HTTP, without the Host that HTTP/1.1 requires, or whose end
 * servers may see in different places; undefined for any other request.
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
 * Whether the end of a request is unclear, because HTTP/1.0 servers ignore Transfer-Encoding. Data that follows on the
 * connection must not be read as a request (RFC 9112 § 6.1).
 */
export function isMisframed({
  httpVersion,
  headers,
}: Pick<IncomingMessage, 'httpVersion' | 'headers'>): boolean {
  return httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined;
}

/**
 * Whether a body is framed only by the chunked transfer coding, the only one that can be decoded here, or has no
 * transfer coding.
 *
 * @param transferEncoding value of Transfer-Encoding, or all its values
 */
export function isPlainlyFramed(transferEncoding: string | readonly string[] | undefined): boolean {
  return transferEncoding === undefined || transferEncoding.toString().trim().toLowerCase() === 'chunked';
}

function ambiguous(name: string, fault: string): ProblemDraft {
  const detail = `The header field ${name} ${fault}: send it once with a value, or leave it out.`;
  return problem('invalidRequest', detail);
}

function withUnderscores(name: string): ProblemDraft {
  const detail = `Write the header field ${name} with dashes instead of underscores, or leave it out.`;
  return problem('invalidRequest', detail);
}

/**
 * Returns the problem of a target whose path is too long, whatever the path (RFC 9110 § 15.5.15); undefined for any
 * other target.
 */
export function longPath(target: string): ProblemDraft | undefined {
  if (target.length <= MAX_PATH_CHARS) return undefined;
  const end = target.indexOf('?');
  return end > MAX_PATH_CHARS || end === -1
    ? problem('uriTooLong', `The path of the request is longer than ${MAX_PATH_CHARS} bytes.`)
    : undefined;
}

/** Returns the problem of a target that is too long for the gateway to read; undefined for any other target. */
export function longTarget(target: string): ProblemDraft | undefined {
  if (target.length <= MAX_TARGET_CHARS) return undefined;
  return problem(
    'uriTooLong',
    `Path and query of the request together are longer than ${MAX_TARGET_CHARS} bytes. Send a ` +
      'long list of ids in several requests, or POST it to /ngsi-ld/v1/entityOperations/delete.',
  );
}

/** The names under which clients may address the gateway. */
export interface TrustedHostsOptions {
  /** Names of the gateway, lower-case, without ports. */
  readonly names: readonly string[];
  /** Whether any Host is accepted, because requests carry a token or every caller is allowed. */
  readonly anyHost: boolean;
}

/** Returns the problem of a request that is refused; undefined for any other request. */
export type RequestCheck = (request: Pick<IncomingMessage, 'method' | 'headers'>) => ProblemDraft | undefined;

const FOREIGN_HOST: ProblemDraft = problem(
  'hostNotAllowed',
  'The gateway has no token and does not know this Host, so any web page could have sent the request. ' +
    'Call it by its address or as localhost, name the host in ALLOWED_HOSTS, or set GATEWAY_TOKEN.',
);

const FOREIGN_ORIGIN: ProblemDraft = problem(
  'originNotAllowed',
  'The request comes from a web page of another origin. Name its host in ALLOWED_HOSTS to allow it.',
);

/** Methods that change nothing (RFC 9110 § 9.2.1). */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Creates a check against web pages that make a browser send requests to a gateway within its reach: by DNS rebinding,
 * which shows as a foreign Host, or across origins, which shows in Origin. Ports are not compared.
 */
export function createHostCheck({ names, anyHost }: TrustedHostsOptions): RequestCheck {
  const isOurs = ownNameCheck(names);
  return ({ method = '', headers: { host, origin } }) => {
    if (SAFE_METHODS.has(method)) return undefined;
    const called = host === undefined ? undefined : nameOf(host);
    // HTTP/1.0 has no Host; browsers always send one.
    if (!anyHost && called !== undefined && isIP(withoutBrackets(called)) === 0 && !isOurs(called))
      return FOREIGN_HOST;
    if (origin === undefined) return undefined;
    const from = URL.parse(origin)?.hostname ?? '';
    return from !== '' && (from === called || isOurs(from)) ? undefined : FOREIGN_ORIGIN;
  };
}

/** Returns the name in a Host header (RFC 9110 § 7.2), lower-case; an IPv6 address keeps its brackets. */
function nameOf(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.trim().toLowerCase())?.[1] ?? host;
}

function withoutBrackets(name: string): string {
  return name.replace(/^\[|\]$/g, '');
}

const DETAILS = {
  'been-here':
    'According to its Via, the request has passed this gateway before: BROKER_URL, or a broker behind it, leads back to it.',
  'too-many-hops':
    `According to its Via, the request has passed ${MAX_HOPS} gateways ` +
    'of this kind: they probably forward to each other.',
} as const;

/** Creates the check for forwarding loops (RFC 9110 § 7.6.3). @param name this gateway's own name in Via */
export function createLoopCheck(name: string): RequestCheck {
  return ({ headers: { via } }) => {
    const loop = via === undefined ? undefined : detectLoop(via, name);
    if (loop === undefined) return undefined;
    return problem('loopDetected', DETAILS[loop]);
  };
}
