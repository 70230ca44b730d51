import type { ParsedConfig, PluginConfig } from './config-schema.js';
import { isCollection, isGuardedRecord, isNgsiLd, isResource, isSchemaService } from './path.js';
import { purgePolicy } from './policy.js';
import { problem, type Problem } from './problem.js';

/** The parts of a request on which the decision depends. */
export interface RequestFacts {
  readonly method: string;
  /** As sent by the client, without the query. */
  readonly rawPath: string;
  /** As Kong normalises and forwards it. */
  readonly path: string;
}

/** What to do with a request. */
export type Decision =
  /** Not for this plugin: leave it unchanged. */
  | { readonly kind: 'pass' }
  /** A purge: checked, stamped, and sent to the sidecar with its policy. */
  | { readonly kind: 'purge'; readonly config: PluginConfig; readonly policy: string }
  /**
   * A request to the sidecar's own API that needs the token. It is stamped like a purge, because it may start one. A write that
   * the sidecar checks is stamped as well, so that the sidecar knows the caller.
   */
  | { readonly kind: 'api'; readonly config: PluginConfig; readonly policy: string }
  /** A DELETE that may mean more than one resource: the sidecar decides about it, without our stamp. */
  | { readonly kind: 'judge'; readonly config: PluginConfig }
  | { readonly kind: 'refuse'; readonly problem: Problem };

const MISCONFIGURED: Decision = { kind: 'refuse', problem: problem('misconfigured') };

/** Methods that change nothing (RFC 9110 § 9.2.1). */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Decides what happens to a request. Pure; never throws.
 *
 * It only refuses what the sidecar could not detect: a path that means a collection only after Kong has normalised it.
 * Everything else is left to the sidecar, which counts and records what it refuses. Binding the plugin to too many routes does
 * no harm: a request that is not a DELETE, and that the sidecar does not guard, passes, unless the plugin vouches for writes. A
 * DELETE passes only if its path certainly means a single resource, or is certainly not for the broker.
 */
export function decide({ method, rawPath, path }: RequestFacts, parsed: ParsedConfig): Decision {
  if (isSafe(method)) return isGuardedRecord(path) ? vouched('api', parsed) : { kind: 'pass' };
  if (method !== 'DELETE') {
    const isVouchedFor = isSchemaService(path) || (vouchesForWrites(parsed) && isNgsiLd(path));
    return isVouchedFor ? vouched('api', parsed) : { kind: 'pass' };
  }
  if (isCollection(rawPath)) return vouched('purge', parsed);
  if (isCollection(path)) return { kind: 'refuse', problem: problem('ambiguousPath') };
  if (isResource(path)) return vouchesForWrites(parsed) ? vouched('api', parsed) : { kind: 'pass' };
  if (isSchemaService(path)) return vouched('api', parsed);
  if (!isNgsiLd(path)) return { kind: 'pass' };
  return parsed.ok ? { kind: 'judge', config: parsed.config } : MISCONFIGURED;
}

/** Whether writes under /ngsi-ld go to the sidecar, however their path is spelled; the sidecar checks the spelling, too. */
function vouchesForWrites(parsed: ParsedConfig): boolean {
  return parsed.ok ? parsed.config.vouch_for_writes : parsed.vouchesForWrites === true;
}

function vouched(kind: 'purge' | 'api', parsed: ParsedConfig): Decision {
  return parsed.ok ? { kind, config: parsed.config, policy: purgePolicy(parsed.config) } : MISCONFIGURED;
}

/**
 * Connection options that name no header on which the sidecar depends. Java's client sends HTTP2-Settings with every request.
 */
const CONNECTION_OPTIONS = new Set([
  '',
  'keep-alive',
  'close',
  'te',
  'trailers',
  'upgrade',
  'http2-settings',
]);

/**
 * Whether a Connection header (RFC 9110 § 7.6.1) is harmless. Kong removes every header named there after the plugins have run:
 * `Connection: X-Purge-Policy` would remove the policy from a checked request, and `Connection: NGSILD-Tenant` would send the
 * request to another tenant.
 */
export function isPlainConnection(header: string | undefined): boolean {
  return (header ?? '').split(',').every((option) => CONNECTION_OPTIONS.has(option.trim().toLowerCase()));
}
