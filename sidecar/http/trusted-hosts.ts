import { isIP } from 'node:net';
import { isLoopback } from '../shared/loopback.js';
import type { ProblemDraft } from './forward-problem.js';
import { problem } from './problem-kinds.js';

export interface TrustedHostsOptions {
  /** Names by which the gateway is called, lower-case, without ports. */
  readonly names: readonly string[];
  /** Requests are taken by any Host: they carry a token, or every caller is allowed. */
  readonly anyHost: boolean;
}

/** The parts of a request that the check needs. */
export interface CalledBy {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** Gives the problem of a request that a foreign web page may have sent; undefined for all others. */
export type HostCheck = (request: CalledBy) => ProblemDraft | undefined;

const FOREIGN_HOST: ProblemDraft = problem(
  'hostNotAllowed',
  'The gateway has no token and does not know this Host, so any web page could have sent the request. Call it by its address or as localhost, name the host in ALLOWED_HOSTS, or set GATEWAY_TOKEN.',
);

const FOREIGN_ORIGIN: ProblemDraft = problem(
  'originNotAllowed',
  'The request comes from a web page of another origin. Name its host in ALLOWED_HOSTS to allow it.',
);

/** Methods that change nothing (RFC 9110 § 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A check against web pages that make a browser send requests to a gateway it can reach: by DNS rebinding, which shows as
 * a foreign Host, or across origins, which shows in Origin. Ports are not compared.
 */
export function createHostCheck({ names, anyHost }: TrustedHostsOptions): HostCheck {
  const known = new Set(names);
  const isOurs = (name: string) => known.has(name) || name.endsWith('.localhost') || isLoopback(bare(name));
  return ({ method, host, origin }) => {
    if (SAFE.has(method)) return undefined;
    const called = host === undefined ? undefined : nameOf(host);
    // HTTP/1.0 has no Host; browsers always send one.
    if (!anyHost && called !== undefined && !isOurs(called) && isIP(bare(called)) === 0) return FOREIGN_HOST;
    if (origin === undefined) return undefined;
    const from = URL.canParse(origin) ? new URL(origin).hostname : '';
    return from !== '' && (from === called || isOurs(from)) ? undefined : FOREIGN_ORIGIN;
  };
}

/** The name in a Host header (RFC 9110 § 7.2), lower-case; an IPv6 address in its brackets. */
function nameOf(host: string): string {
  return /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host.trim().toLowerCase())?.[1] ?? host;
}

function bare(name: string): string {
  return name.replace(/^\[|\]$/g, '');
}
